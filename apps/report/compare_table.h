// SPDX-License-Identifier: BSD-3-Clause
// A comparison as a table, for the terminal and in Markdown.
#pragma once

#include <cstdint>

#include "apps/analysis/comparison.h"
#include "apps/text/table.h"

namespace poise::apps {

/// Puts the best strategy first. `is_wide` adds columns for traffic, bounds on migrations, and the
/// cost of decisions; lines then exceed 80 characters. The column "total" has the time of one
/// decision, its migrations, and the `every` iterations until the next decision.
Table comparison_table(const Comparison& comparison, std::uint64_t every, bool is_wide);

}  // namespace poise::apps
