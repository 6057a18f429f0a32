// SPDX-License-Identifier: BSD-3-Clause
// Reads machines as JSON. An accepted machine is written and read again, and must give the same
// text.
#include "tests/fuzz/target.h"

#include "poise/base/check.h"
#include "poise/machine/json.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace poise;
  accepts([&] {
    const std::string once =
        machine_to_json(machine_from_json(text_of(data, size), "fuzz.json", 1 << 14));
    POISE_CHECK(machine_to_json(machine_from_json(once, "again.json")) == once);
  });
  return 0;
}
