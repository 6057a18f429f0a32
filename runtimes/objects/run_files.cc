// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/run_files.h"

#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>

#include "runtimes/objects/collectives.h"
#include "runtimes/objects/tuning.h"
#include "runtimes/tasks/start/end_job.h"

#include "poise/base/clock.h"
#include "poise/base/error.h"
#include "poise/base/file.h"

namespace poise::objects {

namespace {

/// Returns the time at which the timeline begins, which is about the same on all ranks.
double common_start_s(MPI_Comm comm, bool has_timeline) {
  if (has_timeline) MPI_Barrier(comm);
  return wall_now_s();
}

/// Returns a path that no earlier collection of this process has: `path` for the first collection
/// that asks for it, then for example t.2.json and t.3.json instead of t.json.
std::string unused_path(const std::string& path) {
  static std::map<std::string, unsigned> num_collections;
  if (path.empty() || is_written_in_place(path)) return path;
  const unsigned number = ++num_collections[path];
  if (number == 1) return path;
  std::filesystem::path numbered(path);
  numbered.replace_extension(fmt::format("{}{}", number, numbered.extension().string()));
  return numbered.string();
}

/// Writes an empty timeline to find out at the start whether the path is writable.
void check_timeline_path(const std::string& path) {
  try {
    if (!path.empty()) write_timeline({}, path);
  } catch (const Error& error) {
    fail("POISE_TIMELINE: {}", error.what());
  }
}

}  // namespace

RunFiles::RunFiles(MPI_Comm comm, const CollectionOptions& options, const JobLayout& layout)
    : comm_(comm),
      name_(options.name),
      strategy_(options.strategy),
      num_places_(layout.machine.num_places()),
      wants_phases_(!options.trace.empty()),
      timeline_path_(options.timeline),
      timeline_(!options.timeline.empty(), layout.own_places(),
                common_start_s(comm, !options.timeline.empty())) {
  std::string problem;
  try {
    if (layout.rank == 0) {
      timeline_path_ = unused_path(options.timeline);
      check_timeline_path(timeline_path_);
      record_ = std::make_unique<balance::RunRecord>(options.trace, options.log, layout.machine);
    }
  } catch (const Error& error) {
    problem = error.what();
  }
  tasks::end_job_on_error(comm, problem);
}

void RunFiles::add_phase(const MeasuredPhase& phase, double wall_s) {
  if (phase.workload.tasks.empty()) return;
  try {
    check(phase.workload, num_places_);  // an invalid phase would make the whole trace unreadable
    record_->add(phase, wall_s);
  } catch (const Error& error) {
    if (!std::exchange(has_warned_of_phase_, true))
      warn(fmt::format("a phase is missing from the trace: {}", error.what()));
  }
}

void RunFiles::add_result(const BalanceResult& result) {
  if (!record_) return;
  try {
    record_->add(strategy_, result);
  } catch (const Error& error) {
    if (!std::exchange(has_warned_of_log_, true))
      warn(fmt::format("a decision is missing from the log: {}", error.what()));
  }
}

void RunFiles::finish_trace() {
  if (!std::exchange(wants_phases_, false) || !record_) return;
  try {
    record_->finish();
  } catch (const Error& error) {
    warn(fmt::format("the trace is incomplete: {}", error.what()));
  }
}

void RunFiles::finish_timeline() {
  const std::string path = std::exchange(timeline_path_, "");
  if (path.empty()) return;
  const std::string title = fmt::format("{}, strategy {}", name_, strategy_);
  const Timeline timeline = gather_timeline(comm_, timeline_, title, num_places_);
  double lacks_spans = timeline_.is_complete() ? 0 : 1;
  max_over_ranks(comm_, {&lacks_spans, 1});
  if (!record_) return;
  if (lacks_spans != 0)
    warn(fmt::format(
        "the timeline {} ends before the run, because a rank records at most {} activities", path,
        tuning::kMaxTimelineSpans));
  try {
    write_timeline(timeline, path);
  } catch (const Error& error) {
    warn(fmt::format("the timeline was not written: {}", error.what()));
  }
}

void RunFiles::warn_of_strategy(const std::string& why) {
  if (!std::exchange(has_warned_of_strategy_, true))
    warn(fmt::format("strategy {} failed, so objects stay where they are: {}", strategy_, why));
}

void RunFiles::warn(const std::string& text) {
  std::fprintf(stderr, "poise: warning: %s\n", text.c_str());
}

}  // namespace poise::objects
