// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes whole files; a written file appears complete or not at all.
#pragma once

#include <string>
#include <string_view>

namespace poise {

/// Writes bytes to a temporary file in the same folder, then renames it to path. If this fails, the
/// old file is unchanged, and the function throws SystemError if the disk is full or broken, else
/// Error naming the path. A path for which is_written_in_place() holds is written directly.
void write_file(const std::string& path, std::string_view bytes);

/// True for a device, a pipe, and the file to which stdout or stderr is redirected: renaming a
/// temporary file to such a path, as write_file() does for other paths, would replace the device,
/// pipe or file.
bool is_written_in_place(const std::string& path);

/// The file name that means stdin.
inline constexpr std::string_view kStdin = "-";

/// True if the bytes contain no NUL.
bool is_text(std::string_view bytes);

/// Returns the content of a file, or of standard input. Throws Error naming the path if it cannot
/// be read. A device or a pipe may never end, so reading it stops with an Error if `accepts`
/// returns false for its first bytes.
std::string read_file(const std::string& path, bool (*accepts)(std::string_view) = is_text);

/// Returns the text without the byte order mark of UTF-8 that some programs write at its start.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace poise
