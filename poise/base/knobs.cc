#include "poise/base/knobs.h"

#include <algorithm>

#include "poise/base/check.h"
#include "poise/base/error.h"
#include "poise/base/text.h"

namespace poise {

namespace {

double parse_choice(std::string_view owner, const Knob& knob, std::string_view value) {
  const auto found = std::find(knob.choices.begin(), knob.choices.end(), value);
  if (found == knob.choices.end())
    throw Error(unknown_name(fmt::format("value of knob {} of {}:", knob.name, owner), value,
                             knob.choices));
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

void Knobs::set(std::string_view owner, std::string_view name, std::string_view value) {
  const std::size_t index = index_of(name);
  if (index == values_.size()) {
    if (knobs_.empty()) fail("{} has no knobs, so no \"{}\"", owner, name);
    throw Error(unknown_name(fmt::format("knob of {}:", owner), name, names_of(knobs_)));
  }
  const Knob& knob = knobs_[index];
  if (!knob.choices.empty()) {
    values_[index] = parse_choice(owner, knob, value);
    return;
  }
  const auto number = parse_number(value);
  if (!number)
    fail("{}: {}: \"{}\" is not a number; it takes one from {} to {}", owner, name, value, knob.min,
         knob.max);
  if (*number < knob.min || *number > knob.max)
    fail("{}: {}={} is out of range; it takes {} to {}", owner, name, value, knob.min, knob.max);
  values_[index] = *number;
}

void Knobs::set_all(std::string_view owner, std::string_view settings) {
  for (const std::string_view setting : split(settings, ',')) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string_view::npos)
      fail("{}: \"{}\" is not of the form KNOB=VALUE", owner, setting);
    set(owner, setting.substr(0, equals), setting.substr(equals + 1));
  }
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

}  // namespace poise
