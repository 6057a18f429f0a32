// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/sequence.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <span>

#include "poise/base/text.h"

namespace poise {

namespace {

constexpr double kMaxWhole = 0x1p53;
constexpr std::size_t kMinRange = 3;

bool is_whole(double value) {
  return value >= 0 && value < kMaxWhole && value == std::floor(value);
}

/// Length of the shortest prefix of `numbers` that gives all of `numbers` if it is repeated, from
/// the border array of Knuth, Morris and Pratt.
std::size_t period_of(const std::vector<double>& numbers) {
  std::vector<std::size_t> border(numbers.size() + 1, 0);
  std::size_t matched = 0;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    while (matched > 0 && numbers[i] != numbers[matched]) matched = border[matched];
    if (numbers[i] == numbers[matched]) ++matched;
    border[i + 1] = matched;
  }
  const std::size_t period = numbers.size() - border.back();
  return period > 0 && numbers.size() % period == 0 ? period : numbers.size();
}

std::size_t run_length(std::span<const double> numbers) {
  std::size_t length = 1;
  while (length < numbers.size() && numbers[length] == numbers[0]) ++length;
  return length;
}

std::size_t range_length(std::span<const double> numbers) {
  std::size_t length = 1;
  while (length < numbers.size() && is_whole(numbers[length]) &&
         numbers[length] == numbers[0] + length)
    ++length;
  return is_whole(numbers[0]) ? length : 1;
}

}  // namespace

bool append_item(std::string_view item, std::size_t limit, std::vector<double>& numbers) {
  if (const auto value = parse_number(item)) {
    if (limit == 0) return false;
    numbers.push_back(*value);
    return true;
  }
  if (const std::size_t times = item.find(" x "); times != item.npos) {
    const auto count = parse_unsigned(item.substr(0, times));
    const auto value = parse_number(item.substr(times + 3));
    if (!count || !value || *count > limit) return false;
    numbers.insert(numbers.end(), *count, *value);
    return true;
  }
  const std::size_t dash = item.find('-');
  if (dash == item.npos) return false;
  const auto first = parse_unsigned(item.substr(0, dash)),
             last = parse_unsigned(item.substr(dash + 1));
  if (!first || !last || *last < *first || *last - *first >= limit) return false;
  for (auto value = *first; value <= *last; ++value) numbers.push_back(value);
  return true;
}

bool repeat_to(std::size_t size, std::vector<double>& numbers) {
  const std::size_t period = numbers.size();
  if (period == 0 || period > size || size % period != 0) return false;
  numbers.resize(size);
  for (std::size_t i = period; i < size; ++i) numbers[i] = numbers[i - period];
  return true;
}

std::vector<std::string> items_of(const std::vector<double>& numbers) {
  std::vector<std::string> items;
  if (numbers.empty()) return items;
  std::span<const double> rest(numbers.data(), period_of(numbers));
  while (!rest.empty()) {
    const std::size_t run = run_length(rest), range = range_length(rest);
    std::size_t taken = 1;
    if (range >= kMinRange) {
      taken = range;
      items.push_back(fmt::format("{:.0f}-{:.0f}", rest[0], rest[range - 1]));
    } else if (run > 1) {
      taken = run;
      items.push_back(fmt::format("{} x {}", run, rest[0]));
    } else {
      items.push_back(fmt::format("{}", rest[0]));
    }
    rest = rest.subspan(taken);
  }
  return items;
}

}  // namespace poise
