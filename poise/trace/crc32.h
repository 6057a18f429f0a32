// SPDX-License-Identifier: BSD-3-Clause
// CRC-32 as in zlib, gzip and PNG (polynomial 0xEDB88320), a checksum that most languages provide.
#pragma once

#include <cstdint>
#include <string_view>

namespace poise {

/// Continues a checksum: `before` is the checksum of all earlier bytes. Returns the checksum of
/// these and `bytes` together. Processes about 2 GB/s.
std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);

}  // namespace poise
