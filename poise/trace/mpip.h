// SPDX-License-Identifier: BSD-3-Clause
// Reads reports of mpiP as traces with one phase: ranks become tasks, and the point-to-point matrix
// becomes messages.
#pragma once

#include <string>
#include <string_view>

#include "poise/trace/trace.h"

namespace poise::mpip {

/// The text with which a report of mpiP begins.
constexpr std::string_view kMagic = "@ mpiP";

/// Reads a text report of mpiP 3 (mpiP's user guide, "mpiP Output"). The load of a rank is its time
/// outside of MPI, AppTime - MPITime, in seconds. mpiP itself does not report who sends to whom,
/// but some modified versions of it write a communication matrix at the end of the report. Each
/// line of this matrix gives the bytes and the number of messages from one rank to another, without
/// collective operations. Rank r is at place r. Throws Error naming the line if a section is
/// missing or inconsistent.
Trace read_report(const std::string& name, std::string_view text);

}  // namespace poise::mpip
