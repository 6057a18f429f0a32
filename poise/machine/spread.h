// Medians and quartiles of repeated measurements.
#pragma once

#include <vector>

#include "poise/machine/facts.h"

namespace poise {

/// Median and quartiles, between two values by their distance; zeros of no values.
Spread spread_of(std::vector<double> values);

}  // namespace poise
