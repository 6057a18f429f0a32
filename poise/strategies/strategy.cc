#include "poise/strategies/strategy.h"

#include <algorithm>

#include "poise/base/check.h"
#include "poise/base/error.h"
#include "poise/base/text.h"

namespace poise {

namespace {

template <typename Row>
std::vector<std::string_view> names_of(std::span<const Row> rows) {
  std::vector<std::string_view> names;
  for (const Row& row : rows) names.push_back(row.name);
  return names;
}

double parse_choice(std::string_view strategy, const Knob& knob, std::string_view value) {
  const auto found = std::find(knob.choices.begin(), knob.choices.end(), value);
  if (found == knob.choices.end())
    throw Error(
        unknown_name(fmt::format("{} for knob {}:", knob.name, strategy), value, knob.choices));
  return static_cast<double>(found - knob.choices.begin());
}

}  // namespace

Knobs::Knobs(std::span<const Knob> knobs) : knobs_(knobs) {
  for (const Knob& knob : knobs_) values_.push_back(knob.initial);
}

std::size_t Knobs::index_of(std::string_view name) const {
  const auto found = std::find_if(knobs_.begin(), knobs_.end(),
                                  [&](const Knob& knob) { return knob.name == name; });
  return static_cast<std::size_t>(found - knobs_.begin());
}

double Knobs::operator[](std::string_view name) const {
  const std::size_t index = index_of(name);
  POISE_CHECK(index < values_.size());
  return values_[index];
}

std::string_view Knobs::choice(std::string_view name) const {
  return knobs_[index_of(name)].choices[static_cast<std::size_t>((*this)[name])];
}

void Knobs::set(std::string_view strategy, std::string_view name, std::string_view value) {
  const std::size_t index = index_of(name);
  if (index == values_.size()) {
    if (knobs_.empty()) fail("strategy {} has no knobs, so no \"{}\"", strategy, name);
    throw Error(
        unknown_name(fmt::format("knob of strategy {}:", strategy), name, names_of(knobs_)));
  }
  const Knob& knob = knobs_[index];
  if (!knob.choices.empty()) {
    values_[index] = parse_choice(strategy, knob, value);
    return;
  }
  const auto number = parse_number(value);
  if (!number || *number < knob.min || *number > knob.max)
    fail("strategy {}: {}={} is out of range; it takes {} to {}", strategy, name, value, knob.min,
         knob.max);
  values_[index] = *number;
}

std::string Knobs::text() const {
  std::string text;
  for (std::size_t i = 0; i < knobs_.size(); ++i) {
    if (values_[i] == knobs_[i].initial) continue;
    if (!text.empty()) text += ',';
    text += knobs_[i].choices.empty()
                ? fmt::format("{}={}", knobs_[i].name, values_[i])
                : fmt::format("{}={}", knobs_[i].name, choice(knobs_[i].name));
  }
  return text;
}

std::string Choice::text() const {
  const std::string settings = knobs.text();
  return settings.empty() ? std::string(strategy->name)
                          : fmt::format("{}:{}", strategy->name, settings);
}

Choice parse_strategy(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  const auto rows = strategies();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const Strategy& s) { return s.name == name; });
  if (row == rows.end()) throw Error(unknown_name("strategy", name, names_of(rows)));

  Choice choice{&*row, Knobs(row->knobs)};
  if (name.size() == text.size()) return choice;
  for (const std::string_view setting : split(text.substr(name.size() + 1), ',')) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string_view::npos)
      fail("strategy {}: \"{}\" is not of the form KNOB=VALUE", name, setting);
    choice.knobs.set(name, setting.substr(0, equals), setting.substr(equals + 1));
  }
  return choice;
}

std::vector<Choice> parse_strategies(std::string_view text) {
  std::vector<std::string> items;
  for (const std::string_view piece : split(text, ',')) {
    const bool continues = !items.empty() && piece.find('=') != std::string_view::npos &&
                           piece.find(':') == std::string_view::npos;
    if (continues)
      items.back().append(",").append(piece);
    else
      items.emplace_back(piece);
  }
  if (items.empty()) fail("no strategy is named");
  std::vector<Choice> choices;
  for (const std::string& item : items) choices.push_back(parse_strategy(item));
  return choices;
}

}  // namespace poise
