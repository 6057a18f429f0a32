// SPDX-License-Identifier: BSD-3-Clause
// The files that a run leaves behind: a trace with one phase per decision, and a log with one line
// per decision.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtimes/balance/run_strategy.h"

#include "poise/trace/native.h"
#include "poise/trace/trace.h"

namespace poise::balance {

/// The result of one balancing step: its decision and its migrations.
struct BalanceResult {
  std::uint64_t step = 0;       // steps that the program had completed
  double imbalance_before = 1;  // measured load of the busiest place divided by the average
  double imbalance_after = 1;   // predicted load of the busiest place divided by the average
  std::uint64_t migrations = 0;
  std::uint64_t migrated_bytes = 0;
  double decision_s = 0;
  double migration_s = 0;  // negative if unknown
};

/// Writes the trace and the log of a run. Only one process of the job creates a RunRecord.
class RunRecord {
 public:
  /// Opens both files. With an empty path there is no file; the log path "-" means stderr. Throws
  /// Error naming the variable (POISE_TRACE or POISE_LOG) and the file that cannot be written.
  RunRecord(const std::string& trace, const std::string& log, const Machine& machine);
  ~RunRecord();
  RunRecord(const RunRecord&) = delete;
  RunRecord& operator=(const RunRecord&) = delete;

  bool wants_phases() const { return !trace_path_.empty(); }

  /// Appends a phase to the trace. When add() returns, the phase is on disk in the native format.
  /// If another format was chosen for the trace, the phases are collected in FILE.poise during the
  /// run, and finish() converts this file.
  void add(const MeasuredPhase& phase, double wall_s, std::vector<TaskName> names = {});

  /// Appends a line to the log. Throws Error if that fails.
  void add(std::string_view strategy, const BalanceResult& result);

  /// Completes the trace. Throws Error if it cannot be written.
  void finish();

 private:
  std::string trace_path_, log_path_;
  std::string recording_path_;  // differs from trace_path_ if the trace will be converted
  std::unique_ptr<native::Recording> recording_;
  std::uint64_t num_phases_ = 0;
  std::FILE* log_ = nullptr;
};

}  // namespace poise::balance
