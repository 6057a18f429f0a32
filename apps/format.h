// Numbers as people read them: four digits and a unit.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace poise::apps {

/// A unit and how many base units it is worth: {"ms", 1e-3}.
struct Unit {
  std::string_view name;
  double value;
};

/// The unit in which `largest` reads best.
Unit time_unit(double largest_s);
Unit byte_unit(double largest_bytes);

/// Four significant digits: "12.35", "0.001235", "1.235e+07".
std::string digits(double value);

/// Decimals with which every value of a column reads well: three significant digits of the least
/// one above 0 and of the largest, at most four decimals; none when all are whole.
int decimals_for(std::span<const double> values);

std::string seconds_text(double value_s);
std::string bytes_text(double bytes);

/// "1,234,567".
std::string count_text(std::uint64_t count);

/// "1 node", "1,234 nodes".
std::string count_text(std::uint64_t count, std::string_view noun);

/// What is left or added on the way from `base` to `value`: "-43.1%", "+2.0%", "0.0%"; "-" when
/// there is no base.
std::string change_text(double value, double base);

}  // namespace poise::apps
