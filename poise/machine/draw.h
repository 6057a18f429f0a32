// SPDX-License-Identifier: BSD-3-Clause
// Draws a machine as text for a terminal.
#pragma once

#include <string>

#include "poise/machine/machine.h"

namespace poise {

/// The tree, with equal subtrees drawn once ("20 × node"), then all factors with their sources.
/// UTF-8; every line ends in a newline. The length depends on how many different parts the machine
/// has, not on its size.
std::string draw_machine(const Machine& machine);

/// Writes a size with its unit: "24 MiB", "1.5 GiB", "512 B".
std::string bytes_text(std::uint64_t bytes);

}  // namespace poise
