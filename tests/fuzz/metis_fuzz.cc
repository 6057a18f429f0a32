// SPDX-License-Identifier: BSD-3-Clause
// Reads METIS graphs. An accepted graph is written and read again, and must give the same text.
#include "tests/fuzz/target.h"

#include "poise/base/check.h"
#include "poise/trace/metis_graph.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace poise;
  accepts([&] {
    const Trace trace = metis::read_graph("fuzz.graph", text_of(data, size));
    check(trace);
    const std::string once = metis::write_graph(trace);
    POISE_CHECK(metis::write_graph(metis::read_graph("again.graph", once)) == once);
  });
  return 0;
}
