// SPDX-License-Identifier: BSD-3-Clause
// Reads one vt LBDatafile compressed by brotli. Zero bytes are data here, not separators.
#include "tests/fuzz/target.h"

#include "poise/trace/brotli.h"
#include "poise/trace/vt.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace poise;
  accepts([&] { check(vt::join({vt::parse_rank_file("data.0.json", 0, text_of(data, size))})); });
  return 0;
}
