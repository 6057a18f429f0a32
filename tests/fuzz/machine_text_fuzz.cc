// SPDX-License-Identifier: BSD-3-Clause
// Reads machines as one line of text, in Poise's syntax and in hwloc's synthetic syntax.
#include "tests/fuzz/target.h"

#include "poise/machine/discover.h"
#include "poise/machine/text.h"

// hwloc 2.9 leaks memory when it refuses a synthetic description.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libhwloc"; }

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace poise;
  const std::string_view text = text_of(data, size);
  accepts([&] { machine_from_text(text, 1 << 14); });
  accepts([&] { machine_from_hwloc_synthetic(text); });
  return 0;
}
