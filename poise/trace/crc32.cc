// SPDX-License-Identifier: BSD-3-Clause

#include "poise/trace/crc32.h"

#include <array>

namespace poise {

namespace {

/// Element [k][b] is the checksum of byte b followed by k zero bytes.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = (crc >> 8) ^ tables[0][crc & 0xff];
    }
  return tables;
}

constexpr Tables kTables = make_tables();

std::uint32_t byte_at(std::string_view bytes, std::size_t i) {
  return static_cast<unsigned char>(bytes[i]);
}

}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  // Each step handles eight bytes. Their table lookups do not depend on each other, so the
  // processor can overlap them.
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    const std::uint32_t low = crc ^ (byte_at(bytes, 0) | byte_at(bytes, 1) << 8 |
                                     byte_at(bytes, 2) << 16 | byte_at(bytes, 3) << 24);
    crc = kTables[7][low & 0xff] ^ kTables[6][(low >> 8) & 0xff] ^ kTables[5][(low >> 16) & 0xff] ^
          kTables[4][low >> 24] ^ kTables[3][byte_at(bytes, 4)] ^ kTables[2][byte_at(bytes, 5)] ^
          kTables[1][byte_at(bytes, 6)] ^ kTables[0][byte_at(bytes, 7)];
  }
  for (std::size_t i = 0; i < bytes.size(); ++i)
    crc = (crc >> 8) ^ kTables[0][(crc ^ byte_at(bytes, i)) & 0xff];
  return ~crc;
}

}  // namespace poise
