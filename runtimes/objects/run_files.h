// SPDX-License-Identifier: BSD-3-Clause
// The files that a run writes: trace, log and timeline. A problem with a file during the run is
// reported as a warning and never ends the run.
#pragma once

#include <memory>
#include <mpi.h>
#include <string>

#include "runtimes/balance/run_record.h"
#include "runtimes/objects/job_layout.h"
#include "runtimes/objects/options.h"
#include "runtimes/objects/timeline_recorder.h"

namespace poise::objects {

using balance::BalanceResult;
using balance::MeasuredPhase;

class RunFiles {
 public:
  /// Rank 0 opens the files, so that a path that is not writable ends the job at its start.
  /// Collective.
  RunFiles(MPI_Comm comm, const CollectionOptions& options, const JobLayout& layout);

  /// True as long as a trace is recorded and not finished. Every rank gets the same answer.
  bool wants_phases() const { return wants_phases_; }
  /// True on rank 0 as long as a requested trace or timeline is not finished.
  bool is_incomplete() const { return record_ && (wants_phases_ || !timeline_path_.empty()); }
  /// Returns this rank's part of the timeline.
  TimelineRecorder& timeline() { return timeline_; }

  /// Appends a phase to the trace, unless there are no objects. Called on rank 0 only.
  void add_phase(const MeasuredPhase& phase, double wall_s);
  /// Appends a line to the log on rank 0. Does nothing on other ranks.
  void add_result(const BalanceResult& result);
  /// Completes the trace.
  void finish_trace();
  /// Writes the timeline. Collective.
  void finish_timeline();

  /// Prints a warning that the strategy failed, unless such a warning was printed before.
  void warn_of_strategy(const std::string& why);
  /// Prints a warning on stderr.
  static void warn(const std::string& text);

 private:
  MPI_Comm comm_;
  std::string name_, strategy_;
  std::uint32_t num_places_;
  bool wants_phases_;
  std::string timeline_path_;  // empty if there is no timeline, or if it has been written
  TimelineRecorder timeline_;
  std::unique_ptr<balance::RunRecord> record_;  // exists on rank 0 only
  bool has_warned_of_strategy_ = false, has_warned_of_phase_ = false, has_warned_of_log_ = false;
};

}  // namespace poise::objects
