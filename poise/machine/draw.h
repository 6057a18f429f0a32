// A machine as a page of text for a terminal.
#pragma once

#include <string>

#include "poise/machine/machine.h"

namespace poise {

/// The tree with equal subtrees drawn once ("20 × node"), then every kind of factor with its
/// source. UTF-8, each line ended; the length depends on the variety of the machine, not its size.
std::string draw_machine(const Machine& machine);

/// "24 MiB", "1.5 GiB", "512 B".
std::string bytes_text(std::uint64_t bytes);

}  // namespace poise
