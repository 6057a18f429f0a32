// Machines as one line of text, ours and hwloc's.
#include "tests/fuzz/target.h"

#include "poise/machine/discover.h"
#include "poise/machine/text.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace poise;
  const std::string_view text = text_of(data, size);
  accepts([&] { machine_from_text(text, 1 << 14); });
  accepts([&] { machine_from_hwloc_synthetic(text); });
  return 0;
}
