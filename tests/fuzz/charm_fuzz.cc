// SPDX-License-Identifier: BSD-3-Clause
// Charm++ LB dumps.
#include "tests/fuzz/target.h"

#include "poise/trace/charm_dump.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace poise;
  accepts([&] { check(charm::read_dump("lb.0", text_of(data, size))); });
  return 0;
}
