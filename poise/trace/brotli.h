// SPDX-License-Identifier: BSD-3-Clause
// Compresses and expands brotli streams in memory.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace poise {

/// Expands a brotli stream. Returns nothing if the stream is incomplete, if other bytes follow its
/// end, or if it expands to more than 16 MiB + 10,000 times its own size, as only a malicious
/// stream does.
std::optional<std::string> brotli_decompress(std::string_view stream);

/// Compresses bytes at a quality level that is about as fast as writing JSON.
std::string brotli_compress(std::string_view bytes);

}  // namespace poise
