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

/// Formats with four significant digits: "12.35", "0.001235", "1.235e+07".
std::string digits(double value);

/// Returns the number of decimals for a column. The smallest positive value and the largest value
/// get three significant digits, with at most four decimals. If all values are whole numbers, there
/// are no decimals.
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
