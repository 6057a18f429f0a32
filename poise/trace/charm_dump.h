// Charm++ LB dumps: what +LBDump writes (docs/formats.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "poise/trace/trace.h"

namespace poise::charm {

/// Every dump begins so, whatever program wrote it.
inline constexpr std::string_view kMagic = "\x10\xEA\xBD\xF9";

/// One dump as one phase. `name` is for errors, which also give the byte.
Trace read_dump(const std::string& name, std::string_view bytes);

/// The files of a series NAME.0, NAME.1 … that `path` names, in order, with their numbers; empty
/// when there are none. Numbers may start anywhere but do not jump.
struct SeriesFile {
  std::uint64_t number = 0;
  std::string path;
};
std::vector<SeriesFile> find_series(const std::string& path);

/// Reads a series: one phase per file, called by its number.
Trace read_series(const std::vector<SeriesFile>& files);

}  // namespace poise::charm
