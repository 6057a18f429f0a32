// SPDX-License-Identifier: BSD-3-Clause

#include "poise/base/knobs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "poise/base/check.h"
#include "poise/base/error.h"
#include "poise/base/text.h"

namespace poise {

namespace {

double parse_choice(const Knob& knob, std::string_view label, std::string_view text) {
  const auto found = std::find(knob.choices.begin(), knob.choices.end(), text);
  if (found != knob.choices.end()) return found - knob.choices.begin();
  const std::string_view nearest = nearest_name(text, knob.choices);
  const std::string hint = nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest);
  fail("{}={} is not allowed; the choices are {}{}", label, text, fmt::join(knob.choices, ", "),
       hint);
}

}  // namespace

double knob_value(const Knob& knob, std::string_view label, std::string_view text) {
  if (!knob.choices.empty()) return parse_choice(knob, label, text);
  const auto number = parse_number(text);
  if (!number)
    fail("{}={} is not a number; give a number from {} to {}", label, text, knob.min, knob.max);
  if (*number < knob.min || *number > knob.max)
    fail("{}={} is out of range; give a number from {} to {}", label, text, knob.min, knob.max);
  if (knob.is_whole && *number != std::floor(*number))
    fail("{}={} is not a whole number; give one from {} to {}", label, text, knob.min, knob.max);
  return *number;
}

Knobs::Knobs(std::span<const Knob> knobs, std::span<const Knob> tuning)
    : knobs_(knobs), tuning_(tuning) {
  for (const Knob& knob : knobs_) values_.push_back(knob.initial);
  for (const Knob& knob : tuning_) values_.push_back(knob.initial);
}

const Knob& Knobs::knob(std::size_t index) const {
  return index < knobs_.size() ? knobs_[index] : tuning_[index - knobs_.size()];
}

std::size_t Knobs::index_of(std::string_view name) const {
  std::size_t index = 0;
  while (index < values_.size() && knob(index).name != name) ++index;
  return index;
}

std::span<const double> Knobs::tuning_values() const {
  return std::span(values_).subspan(knobs_.size());
}

double Knobs::operator[](std::string_view name) const {
  const std::size_t index = index_of(name);
  POISE_CHECK(index < values_.size());
  return values_[index];
}

std::string_view Knobs::choice(std::string_view name) const {
  return knob(index_of(name)).choices[static_cast<std::size_t>((*this)[name])];
}

void Knobs::set(std::string_view owner, std::string_view name, std::string_view value) {
  const std::size_t index = index_of(name);
  if (index == values_.size()) {
    if (knobs_.empty()) fail("{} has no knobs, so \"{}\" cannot be set", owner, name);
    throw Error(unknown_name(fmt::format("knob of {}:", owner), name, names_of(knobs_)));
  }
  values_[index] = knob_value(knob(index), fmt::format("{}: {}", owner, name), value);
}

void Knobs::set_all(std::string_view owner, std::string_view settings) {
  std::set<std::string_view> names;
  for (const std::string_view setting : split(settings, ',')) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string_view::npos)
      fail("{}: \"{}\" is not of the form KNOB=VALUE", owner, setting);
    if (!names.insert(setting.substr(0, equals)).second)
      fail("{}: {} is set twice; set it once", owner, setting.substr(0, equals));
    set(owner, setting.substr(0, equals), setting.substr(equals + 1));
  }
}

std::string Knobs::text() const {
  std::string text;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Knob& knob = this->knob(i);
    if (values_[i] == knob.initial) continue;
    if (!text.empty()) text += ',';
    text += knob.choices.empty() ? fmt::format("{}={}", knob.name, values_[i])
                                 : fmt::format("{}={}", knob.name, choice(knob.name));
  }
  return text;
}

}  // namespace poise
