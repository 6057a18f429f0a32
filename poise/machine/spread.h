// SPDX-License-Identifier: BSD-3-Clause
// Medians and quartiles of repeated measurements.
#pragma once

#include <vector>

#include "poise/machine/facts.h"

namespace poise {

/// The value with four significant digits: more would suggest a precision that measurements lack.
double four_digits(double value);

/// Median and quartiles with four digits, interpolated between neighbours; zeros if there are no
/// values.
Spread spread_of(std::vector<double> values);

}  // namespace poise
