// METIS graphs as traces: one phase, vertices as tasks, edges as a message each way.
#pragma once

#include <string>
#include <string_view>

#include "poise/trace/trace.h"

namespace poise::metis {

/// Vertex weight: load in µs (the first of several; without weights 1 µs). Vertex size: bytes.
/// Edge weight: bytes each way in one message (without weights 1). There is no placement. Throws
/// Error with the line when the file contradicts itself: counts, asymmetric edges, self-loops.
Trace read_graph(const std::string& name, std::string_view text);

/// The graph of a trace of one phase: loads rounded to µs, and for two tasks that talk half of the
/// bytes between them, at least 1. Throws Error when there are more phases.
std::string write_graph(const Trace& trace);

}  // namespace poise::metis
