// SPDX-License-Identifier: BSD-3-Clause
// Reads timelines, which record what every place did and when.
#include "tests/fuzz/target.h"

#include "poise/trace/timeline.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace poise;
  accepts([&] { timeline_from_text("fuzz.json", text_of(data, size)); });
  return 0;
}
