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

/// The unit in which `largest` is most legible.
Unit time_unit(double largest_s);
Unit byte_unit(double largest_bytes);

/// Four significant digits: "12.35", "0.001235", "1.235e+07".
std::string digits(double value);

/// The number of decimals for a column: three significant digits for its smallest positive value
/// and for its largest, at most four decimals; none if all values are whole.
int decimals_for(std::span<const double> values);

std::string seconds_text(double value_s);
std::string bytes_text(double bytes);

/// "1,234,567".
std::string count_text(std::uint64_t count);

/// "1 node", "1,234 nodes".
std::string count_text(std::uint64_t count, std::string_view noun);

/// The change from `base` to `value` in percent: "-43.1%", "+2.0%", "0.0%". It is "-" if `base` is
/// not positive.
std::string change_text(double value, double base);

}  // namespace poise::apps
