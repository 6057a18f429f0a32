// SPDX-License-Identifier: BSD-3-Clause
// Formats numbers for people: four digits and a unit.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace poise::apps {

/// A unit and its value in base units, for example {"ms", 1e-3}.
struct Unit {
  std::string_view name;
  double value;
};

/// Returns the unit in which `largest` is easiest to read.
Unit time_unit(double largest_s);
Unit byte_unit(double largest_bytes);

/// Formats a number below 1,000 with four digits ("12.35", "0.012"), and larger ones as whole
/// numbers. Numbers below 0.001 or of at least 10^7 get three significant digits ("1.23e+07").
std::string digits(double value);

/// Returns the number of decimals for a column: as many as the smallest positive value needs for
/// three significant digits, but at most four. If all values are whole numbers, returns 0.
int decimals_for(std::span<const double> values);

std::string seconds_text(double value_s);
std::string bytes_text(double bytes);

/// "1,234,567".
std::string count_text(std::uint64_t count);

/// Formats a count with a noun: "1 node", "1,234 nodes".
std::string count_text(std::uint64_t count, std::string_view noun);

/// Formats the change from `base` to `value` in percent: "-43.1%", "+2.0%", "0.0%", or "-" if
/// `base` is not positive.
std::string change_text(double value, double base);

}  // namespace poise::apps
