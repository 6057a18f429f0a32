// SPDX-License-Identifier: BSD-3-Clause
// A comparison as a table, for the terminal and in Markdown.
#pragma once

#include <cstdint>

#include "apps/analysis/comparison.h"
#include "apps/text/table.h"

namespace poise::apps {

/// The best strategy comes first. `is_wide` adds columns beyond the 80 characters: traffic, bounds
/// on migrations, and the cost of decisions. `every` is the number of phases
/// over which the column "total" adds up the time.
Table comparison_table(const Comparison& comparison, std::uint64_t every, bool is_wide);

}  // namespace poise::apps
