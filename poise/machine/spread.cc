// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/spread.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>

#include "poise/base/text.h"

namespace poise {

namespace {

double quantile(const std::vector<double>& sorted, double fraction) {
  const double position = fraction * (sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return four_digits(sorted[below] + (position - below) * (sorted[above] - sorted[below]));
}

}  // namespace

double four_digits(double value) {
  return parse_number(fmt::format("{:.3e}", value)).value_or(value);
}

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {quantile(values, 0.5), quantile(values, 0.25), quantile(values, 0.75)};
}

}  // namespace poise
