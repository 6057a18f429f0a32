// SPDX-License-Identifier: BSD-3-Clause
// Writes METIS graphs with vertex sizes, vertex weights and edge weights (format 111).
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>

#include "poise/base/error.h"
#include "poise/trace/metis_graph.h"
#include "poise/workload/links.h"

namespace poise::metis {

namespace {

std::uint64_t microseconds(double load_s) {
  constexpr double kMax = 9e18;
  return static_cast<std::uint64_t>(std::min(std::round(load_s * 1e6), kMax));
}

}  // namespace

std::string write_graph(const Trace& trace) {
  if (trace.phases.size() != 1)
    fail("a METIS graph can hold only one phase, but the trace has {}; choose one phase",
         trace.phases.size());
  const Workload& workload = trace.phases[0].workload;
  const Links links = neighbours(workload);
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "% size, load in us, then neighbours with the bytes each way\n{} {} 111\n",
                 workload.num_tasks(), links.size() / 2);
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    fmt::format_to(out, "{} {}", workload.tasks[t].bytes, microseconds(workload.tasks[t].load_s));
    // METIS does not accept edges of weight 0.
    for (const Link& link : links.of(t))
      fmt::format_to(out, " {} {}", link.task + 1,
                     std::max<std::uint64_t>(link.bytes / 2 + link.bytes % 2, 1));
    fmt::format_to(out, "\n");
  }
  return fmt::to_string(text);
}

}  // namespace poise::metis
