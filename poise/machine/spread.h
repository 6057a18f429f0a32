// Medians and quartiles of repeated measurements.
#pragma once

#include <vector>

#include "poise/machine/facts.h"

namespace poise {

/// The value to four significant digits: more than a measurement is worth would only look exact.
double four_digits(double value);

/// Median and quartiles to four digits, between two values by their distance; zeros of no values.
Spread spread_of(std::vector<double> values);

}  // namespace poise
