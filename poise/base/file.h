// Whole files in and out; what is written appears whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace poise {

/// Writes bytes to path through a temporary file in the same folder and a rename.
/// Throws Error naming the path when any step fails, SystemError when the disk is full or broken;
/// the old file then stays as it was.
void write_file(const std::string& path, std::string_view bytes);

/// The name of standard input among files that are read.
inline constexpr std::string_view kStdin = "-";

/// The whole file, or all of standard input. Throws Error naming the path.
std::string read_file(const std::string& path);

}  // namespace poise
