// What is kept of a run: a trace, a phase per decision, and a line of log for each.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtimes/balance/ask.h"

#include "poise/trace/native.h"
#include "poise/trace/trace.h"

namespace poise::balance {

/// What a balancing step did; times in seconds.
struct Balanced {
  std::uint64_t step = 0;                            // steps done before it
  double imbalance_before = 1, imbalance_after = 1;  // the latter as predicted
  std::uint64_t migrations = 0, migrated_bytes = 0;
  double decision_s = 0, migration_s = 0;  // below 0: not known
};

class Journal {
 public:
  /// Opens the files: a trace and a log, "-" for stderr, each none where its path is empty. Throws
  /// Error naming the variable and the file that cannot be written.
  Journal(const std::string& trace, const std::string& log, const Machine& machine);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  bool wants_phases() const { return !trace_path_.empty(); }
  /// The phase is on disk when this returns, in the native form: a trace of another is recorded
  /// beside its path, with .poise after it, and turned into that form at the end.
  void add(const Census& census, double wall_s, std::vector<TaskName> names = {});
  void add(std::string_view strategy, const Balanced& balanced);
  /// Completes the trace. Throws Error when it cannot be written.
  void finish();

 private:
  std::string trace_path_, recording_path_;
  std::unique_ptr<native::Recording> recording_;
  std::uint64_t num_phases_ = 0;
  std::FILE* log_ = nullptr;
};

}  // namespace poise::balance
