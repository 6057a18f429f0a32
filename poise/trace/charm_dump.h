// SPDX-License-Identifier: BSD-3-Clause
// Charm++ LB dumps, as written by +LBDump (docs/formats.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "poise/trace/trace.h"

namespace poise::charm {

/// The first bytes of every dump, independent of the program that wrote it.
inline constexpr std::string_view kMagic = "\x10\xEA\xBD\xF9";

/// Reads one dump as one phase. `name` is used in errors, which also give the byte offset.
Trace read_dump(const std::string& name, std::string_view bytes);

/// The files NAME.0, NAME.1, ... of the series `path`, in order, with their numbers. There are none
/// if `path` is not a series. Numbers may start anywhere but must be consecutive.
struct SeriesFile {
  std::uint64_t number = 0;
  std::string path;
};
std::vector<SeriesFile> find_series(const std::string& path);

/// Reads a series of dumps. Each file becomes a phase, whose id is the number in the file's name.
Trace read_series(const std::vector<SeriesFile>& files);

}  // namespace poise::charm
