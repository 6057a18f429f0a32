// SPDX-License-Identifier: BSD-3-Clause
// Knobs: the named settings of a strategy or a generator, parsed from text and checked against
// their ranges.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace poise {

/// A setting: a number in [min, max] or, if there are `choices`, the index of one of them.
struct Knob {
  std::string_view name;
  double initial, min, max;
  std::string_view help;
  std::span<const std::string_view> choices = {};
  std::string_view unit = {};  // empty if the help states the unit
  bool is_whole = false;       // only whole numbers are allowed
};

/// Returns a copy of the knob that allows only whole numbers.
constexpr Knob whole(Knob knob) {
  knob.is_whole = true;
  return knob;
}

/// Reads the value of a knob from text. If the text is wrong, throws Error. Its message begins with
/// `label`, which names the knob to the user ("strategy nuco: alpha"), and says which values work.
double knob_value(const Knob& knob, std::string_view label, std::string_view text);

/// The values of the knobs of one strategy or generator. Every knob starts at its default value.
class Knobs {
 public:
  /// `tuning` lists additional knobs that only experiments change. They are set by name like the
  /// others, but read all together by tuning_values().
  explicit Knobs(std::span<const Knob> knobs, std::span<const Knob> tuning = {});

  double operator[](std::string_view name) const;
  std::string_view choice(std::string_view name) const;
  /// The values of the tuning knobs, in the order of the constructor's argument `tuning`.
  std::span<const double> tuning_values() const;

  /// Sets a knob. If the value is wrong, throws Error naming the owner ("strategy nuco"), the knob
  /// and its range.
  void set(std::string_view owner, std::string_view name, std::string_view value);
  /// Sets each KNOB=VALUE of a comma-separated list.
  void set_all(std::string_view owner, std::string_view settings);

  /// The knobs that differ from their initial values, in the form that set_all() reads:
  /// "alpha=1e-05,local=1".
  std::string text() const;

 private:
  std::size_t index_of(std::string_view name) const;
  const Knob& knob(std::size_t index) const;
  std::span<const Knob> knobs_, tuning_;
  std::vector<double> values_;  // values of the knobs, then of the tuning knobs
};

/// Returns the names of the rows of a table, for use as the choices of a knob.
template <typename Row, std::size_t N>
constexpr std::array<std::string_view, N> choices_of(const Row (&rows)[N]) {
  std::array<std::string_view, N> names;
  for (std::size_t i = 0; i < N; ++i) names[i] = rows[i].name;
  return names;
}

/// Returns the names of the rows of a table, for error messages that list them.
template <typename Row>
std::vector<std::string_view> names_of(std::span<const Row> rows) {
  std::vector<std::string_view> names;
  for (const Row& row : rows) names.push_back(row.name);
  return names;
}

}  // namespace poise
