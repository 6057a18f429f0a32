// Brotli streams in memory.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace poise {

/// The bytes a brotli stream stands for, or nothing when it is none, is cut short, is followed by
/// more, or grows beyond 16 MiB + 10,000 times its own size (such a stream was made to harm).
std::optional<std::string> brotli_decompress(std::string_view stream);

/// The bytes as a brotli stream, at a quality that keeps up with writing JSON.
std::string brotli_compress(std::string_view bytes);

}  // namespace poise
