// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/balance/run_record.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

#include "poise/base/error.h"

namespace poise::balance {

namespace {

/// Throws Error if the ending of the path selects no trace format. Called at the start of the run;
/// otherwise the user would see this error only at the end of the run.
void check_ending(const std::string& path) {
  std::string known;
  for (const TraceFormat& format : trace_formats()) {
    if (format.ending.empty() || format.name == "metis")
      continue;  // a METIS file holds one phase only
    if (path.ends_with(format.ending)) return;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", format.ending);
  }
  fail("{}: the file name must end in one of {}; the ending selects the trace format", path, known);
}

/// Opens a file to which several records may append lines at the same time. Empties the file unless
/// another record, in this or another process, has it open. Returns null if the file cannot be
/// opened.
std::FILE* open_log(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return nullptr;
  // Each record that has the file open holds a shared lock.
  const bool is_in_use = ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!is_in_use) (void)!::ftruncate(file, 0);  // fails for pipes and devices: nothing to empty
  ::flock(file, LOCK_SH | LOCK_NB);
  return ::fdopen(file, "a");
}

}  // namespace

RunRecord::RunRecord(const std::string& trace, const std::string& log, const Machine& machine)
    : trace_path_(trace), log_path_(log) {
  if (log == "-")
    log_ = stderr;
  else if (!log.empty())
    log_ = open_log(log);
  if (!log.empty() && log_ == nullptr)
    fail("POISE_LOG: cannot write {}: {}", log, std::strerror(errno));
  if (trace_path_.empty()) return;
  try {
    check_ending(trace_path_);
    recording_path_ = trace_path_;
    if (!trace_path_.ends_with(".poise")) recording_path_ += ".poise";
    recording_ =
        std::make_unique<native::Recording>(recording_path_, machine.num_places(), &machine);
  } catch (const Error& error) {
    fail("POISE_TRACE: {}", error.what());
  }
}

RunRecord::~RunRecord() {
  if (log_ != nullptr && log_ != stderr) std::fclose(log_);
}

void RunRecord::add(const MeasuredPhase& measured, double wall_s, std::vector<TaskName> names) {
  if (trace_path_.empty()) return;
  Phase phase;
  phase.id = num_phases_++;
  phase.wall_s = wall_s;
  phase.workload = measured.workload;
  phase.placement = measured.current;
  phase.names = std::move(names);
  recording_->add(phase);
}

void RunRecord::add(std::string_view strategy, const BalanceResult& result) {
  if (log_ == nullptr) return;
  const std::string migrated =
      result.migration_s < 0
          ? fmt::format("{} migrations", result.migrations)
          : fmt::format("{} migrations of {} bytes in {:.3g} s", result.migrations,
                        result.migrated_bytes, result.migration_s);
  const std::string line = fmt::format(
      "step {}: {}: imbalance {:.3f}, expected {:.3f}; {}, decided in {:.3g} s\n", result.step,
      strategy, result.imbalance_before, result.imbalance_after, migrated, result.decision_s);
  if (std::fputs(line.c_str(), log_) < 0 || std::fflush(log_) != 0)
    fail("cannot write {}: {}", log_path_, std::strerror(errno));
}

void RunRecord::finish() {
  if (trace_path_.empty()) return;
  const std::string path = std::exchange(trace_path_, "");
  recording_->finish();
  if (path == recording_path_) return;
  write_trace(read_trace(recording_path_), path);
  std::remove(recording_path_.c_str());
}

}  // namespace poise::balance
