// SPDX-License-Identifier: BSD-3-Clause
// METIS graphs as traces: one phase, vertices as tasks, edges as one message in each direction.
#pragma once

#include <string>
#include <string_view>

#include "poise/trace/trace.h"

namespace poise::metis {

/// Vertex weight: load in µs (the first of several; 1 µs if there are none). Vertex size: bytes of
/// the task. Edge weight: bytes of the message in each direction (1 if there are none). There is no
/// placement. Throws Error with the line if the file is inconsistent: wrong counts, asymmetric
/// edges, self-loops.
Trace read_graph(const std::string& name, std::string_view text);

/// The graph of a trace with one phase. Loads are rounded to µs; the weight of an edge is half of
/// the bytes that two tasks exchange, at least 1. Throws Error if there are several phases.
std::string write_graph(const Trace& trace);

}  // namespace poise::metis
