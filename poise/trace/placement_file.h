// SPDX-License-Identifier: BSD-3-Clause
// Placement files: one place number per line (as METIS writes partitions), or JSON.
#pragma once

#include <string>
#include <string_view>

#include "poise/placement/placement.h"

namespace poise {

/// Reads a placement as lines or as JSON {"placement": [place, ...]}, recognised by content. Throws
/// Error naming the file and the line.
Placement read_placement(const std::string& path);

/// Reads a placement from text; `name` is used in errors.
Placement placement_from_text(const std::string& name, std::string_view text);

/// Writes one place number per line, in the order of the tasks.
std::string placement_to_text(const Placement& placement);

/// Writes lines, or JSON if the path ends in .json. Throws Error naming the path.
void write_placement(const std::string& path, const Placement& placement);

}  // namespace poise
