// SPDX-License-Identifier: BSD-3-Clause
// Reads METIS graphs as traces with one phase: vertices become tasks, and each edge becomes one
// message in each direction.
#pragma once

#include <string>
#include <string_view>

#include "poise/trace/trace.h"

namespace poise::metis {

/// The weight of a vertex is its load in µs (the first weight if there are several; 1 µs if there
/// are none). The size of a vertex is the number of bytes of the task. The weight of an edge is the
/// number of bytes of the message in each direction (1 if edges have no weights). There is no
/// placement. Throws Error with the line if the file is inconsistent: wrong counts, asymmetric
/// edges, self-loops.
Trace read_graph(const std::string& name, std::string_view text);

/// Writes the graph of a trace with one phase. Loads are rounded to µs; the weight of an edge is
/// half of the bytes that the two tasks exchange, at least 1. Throws Error if there are several
/// phases.
std::string write_graph(const Trace& trace);

}  // namespace poise::metis
