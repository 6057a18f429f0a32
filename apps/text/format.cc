// SPDX-License-Identifier: BSD-3-Clause

#include "apps/text/format.h"

#include <cmath>
#include <fmt/core.h>
#include <iterator>

namespace poise::apps {

namespace {

constexpr Unit kTimeUnits[] = {{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}, {"ns", 1e-9}};
constexpr Unit kByteUnits[] = {{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}};

/// Returns the largest unit whose value is at most `largest`, after `largest` is rounded as by
/// digits(). If there is no such unit, returns the smallest one. Returns `base` if `largest` is 0.
Unit best_unit(std::span<const Unit> units, double largest, Unit base) {
  if (largest <= 0) return base;
  for (const Unit& unit : units)
    if (largest >= 0.99995 * unit.value) return unit;
  return units.back();
}

}  // namespace

Unit time_unit(double largest_s) { return best_unit(kTimeUnits, largest_s, {"s", 1}); }

Unit byte_unit(double largest_bytes) { return best_unit(kByteUnits, largest_bytes, {"B", 1}); }

std::string digits(double value) {
  const double magnitude = std::abs(value);
  if (magnitude == 0) return "0";
  if (magnitude >= 999.95 && magnitude < 1e7) return fmt::format("{:.0f}", value);
  if (magnitude >= 1e-3 && magnitude < 999.95) {
    const int before_point = magnitude >= 99.995 ? 3 : magnitude >= 9.9995 ? 2 : 1;
    return fmt::format("{:.{}f}", value, 4 - before_point);
  }
  return fmt::format("{:.3g}", value);
}

int decimals_for(std::span<const double> values) {
  bool all_whole = true;
  double least = 0;
  for (const double value : values) {
    all_whole = all_whole && value == std::floor(value);
    if (value > 0 && (least == 0 || value < least)) least = value;
  }
  if (all_whole) return 0;
  int decimals = 0;
  for (double value = least; value < 99.95 && decimals < 4; value *= 10) ++decimals;
  return decimals;
}

std::string seconds_text(double value_s) {
  const Unit unit = time_unit(std::abs(value_s));
  return fmt::format("{} {}", digits(value_s / unit.value), unit.name);
}

std::string bytes_text(double bytes) {
  const Unit unit = byte_unit(std::abs(bytes));
  return fmt::format("{} {}", digits(bytes / unit.value), unit.name);
}

std::string count_text(std::uint64_t count) {
  const std::string all = std::to_string(count);
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0 && (all.size() - i) % 3 == 0) text += ',';
    text += all[i];
  }
  return text;
}

std::string count_text(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count_text(count), noun, count == 1 ? "" : "s");
}

std::string change_text(double value, double base) {
  if (base <= 0) return "-";
  const double percent = 100 * (value / base - 1);
  if (!std::isfinite(percent)) return "-";
  return std::abs(percent) < 0.05 ? "0.0%" : fmt::format("{:+.1f}%", percent);
}

}  // namespace poise::apps
