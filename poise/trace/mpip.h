// SPDX-License-Identifier: BSD-3-Clause
// Reports of mpiP as traces: one phase, ranks as tasks, the point-to-point matrix as messages.
#pragma once

#include <string>
#include <string_view>

#include "poise/trace/trace.h"

namespace poise::mpip {

/// How a report begins.
constexpr std::string_view kMagic = "@ mpiP";

/// Reads a text report of mpiP 3 (mpip's user guide, "mpiP Output") that has a communication matrix
/// at its end, as mpiP 3.4.1 with matrix output writes it. The load of a rank is its useful time,
/// AppTime - MPITime in seconds; a line of the matrix is the messages from one rank to another, in
/// bytes and number. Collectives are not in the matrix. Rank r is at place r. Throws Error with the
/// line if a section is missing or inconsistent.
Trace read_report(const std::string& name, std::string_view text);

}  // namespace poise::mpip
