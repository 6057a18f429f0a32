// A comparison as a table, for the terminal and in Markdown.
#pragma once

#include <cstdint>

#include "apps/analysis/comparison.h"
#include "apps/text/table.h"

namespace poise::apps {

/// The best strategy first. `is_wide` adds traffic, bounds on migrations and what decisions cost to
/// the columns that fit 80 characters. `every` is the K of the total.
Table comparison_table(const Comparison& comparison, std::uint64_t every, bool is_wide);

}  // namespace poise::apps
