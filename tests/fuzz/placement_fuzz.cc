// SPDX-License-Identifier: BSD-3-Clause
// Reads placement files, with one place per line or as JSON.
#include "tests/fuzz/target.h"

#include "poise/trace/placement_file.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace poise;
  accepts([&] { placement_from_text("fuzz.part", text_of(data, size)); });
  return 0;
}
