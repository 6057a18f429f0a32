// SPDX-License-Identifier: BSD-3-Clause
// Reads the native format, both as given and with its checksums corrected, so that the code after
// the checks is tested, too. An accepted trace is written and read again, and must give the same
// bytes.
#include <algorithm>

#include "tests/fuzz/target.h"

#include "poise/base/check.h"
#include "poise/trace/crc32.h"
#include "poise/trace/native.h"

namespace {

std::string with_right_checksums(std::string bytes) {
  constexpr std::size_t kFileHead = 12, kSectionHead = 16;
  for (std::size_t at = kFileHead; at + kSectionHead <= bytes.size();) {
    std::uint64_t size = 0;
    for (std::size_t i = 0; i < 8; ++i)
      size |= std::uint64_t{static_cast<unsigned char>(bytes[at + 8 + i])} << (8 * i);
    if (size > bytes.size() - at - kSectionHead) break;
    const std::string_view rest(bytes.data() + at + 4, kSectionHead - 4 + size);
    const std::uint32_t checksum = poise::crc32(rest);
    for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(checksum >> (8 * i));
    at += kSectionHead + size;
  }
  return bytes;
}

void try_reading(const std::string& bytes, poise::native::Reading reading) {
  using namespace poise;
  accepts([&] {
    const Trace trace = native::read("fuzz.poise", bytes, reading);
    check(trace);
    const std::string once = native::write(trace);
    POISE_CHECK(native::write(native::read("again.poise", once)) == once);
  });
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(poise::text_of(data, size));
  try_reading(bytes, poise::native::Reading::whole);
  const std::string repaired = with_right_checksums(bytes);
  try_reading(repaired, poise::native::Reading::whole);
  try_reading(repaired, poise::native::Reading::recover);
  return 0;
}
