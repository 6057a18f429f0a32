// Tells the forms of a trace apart and calls the right reader.
#include "poise/base/error.h"
#include "poise/trace/trace.h"
#include "poise/trace/vt.h"

namespace poise {

Trace read_trace(const std::string& path) {
  const std::vector<std::string> rank_files = vt::find_rank_files(path);
  if (rank_files.empty()) fail("{}: not a trace of any known form", path);
  Trace trace = vt::read_files(rank_files);
  check(trace);
  return trace;
}

void check(const Trace& trace) {
  if (trace.phases.empty()) fail("trace: it has no phases");
  for (const Phase& phase : trace.phases) {
    check(phase.workload, trace.num_places);
    check(phase.placement, phase.workload.num_tasks(), trace.num_places);
  }
}

}  // namespace poise
