// SPDX-License-Identifier: BSD-3-Clause
// Medians and quartiles of repeated measurements.
#pragma once

#include <vector>

#include "poise/machine/facts.h"

namespace poise {

/// Rounds to four significant digits, because measurements are not more precise.
double four_digits(double value);

/// Median and quartiles with four digits, interpolated between neighbouring values. All are zero if
/// there are no values.
Spread spread_of(std::vector<double> values);

}  // namespace poise
