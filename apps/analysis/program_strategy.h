// SPDX-License-Identifier: BSD-3-Clause
// Runs a strategy in a program of the user, which reads a problem on stdin and writes a placement
// to stdout.
#pragma once

#include <string>

#include "poise/placement/problem.h"

namespace poise::apps {

/// Runs `command` (words separated by spaces; no shell) once, writes the problem to its stdin as
/// JSON (docs/strategies.md) and reads a placement from its stdout: JSON {"placement": [...]} or
/// one place number per line. Its stderr is not redirected. If the command cannot be started, does
/// not exit with status 0 within `limit_s` seconds, or writes no valid placement, throws Error with
/// one line that names the command, and kills the process.
Placement placement_of_program(const std::string& command, const Problem& problem, double limit_s);

}  // namespace poise::apps
