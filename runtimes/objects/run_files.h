// The files that a run writes: trace, log and timeline. Problems with a file during the run never
// end it; they are reported as warnings.
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
  /// Rank 0 opens the files, so that a path that cannot be written ends the job at its start.
  /// Collective.
  RunFiles(MPI_Comm comm, const Options& options, const JobLayout& layout);

  /// Whether there is a trace to complete. The same on all ranks.
  bool wants_phases() const { return wants_phases_; }
  /// True on rank 0 if a trace or a timeline is not complete yet.
  bool is_incomplete() const { return record_ && (wants_phases_ || !timeline_path_.empty()); }
  /// This rank's part of the timeline.
  TimelineRecorder& timeline() { return timeline_; }

  /// Appends a phase to the trace. Only rank 0 calls this.
  void add_phase(const MeasuredPhase& phase, double wall_s);
  /// Appends a line to the log. Does nothing on other ranks than 0.
  void add_result(const BalanceResult& result);
  /// Completes the trace.
  void finish_trace();
  /// Writes the timeline. Collective.
  void finish_timeline();

  /// Prints a warning on stderr unless this rank has printed one before.
  void warn(const std::string& text);

 private:
  MPI_Comm comm_;
  std::string name_, strategy_;
  std::uint32_t num_places_;
  bool wants_phases_;
  std::string timeline_path_;  // empty: none, or written
  TimelineRecorder timeline_;
  std::unique_ptr<balance::RunRecord> record_;  // on rank 0
  bool has_warned_ = false;
};

}  // namespace poise::objects
