// SPDX-License-Identifier: BSD-3-Clause
// Parses names of strategies and workloads with their knobs. Accepted names are printed and parsed
// again, and must give the same text.
#include "tests/fuzz/target.h"

#include "poise/base/check.h"
#include "poise/strategies/strategy.h"
#include "poise/workload/generate.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace poise;
  const std::string_view text = text_of(data, size);
  accepts([&] {
    for (const Choice& choice : parse_strategies(text)) {
      const std::string once = choice.text();
      POISE_CHECK(parse_strategy(once).text() == once);
    }
  });
  accepts([&] {
    const std::string once = parse_recipe(text).text();
    POISE_CHECK(parse_recipe(once).text() == once);
  });
  return 0;
}
