// SPDX-License-Identifier: BSD-3-Clause
// The file in which `poise run` stores what it knows about a command's runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "poise/diagnosis/map_trial.h"
#include "poise/placement/placement.h"

namespace poise::apps {

struct RunHistory {
  std::vector<std::string> command = {};  // the command as the user gave it
  std::vector<std::string> hosts = {};    // hosts of the profiled run, in the order of the nodes
  // The numbers of hosts and of tasks that the batch job of the profiled run had. 0 means that a
  // number is unknown, or that the run was outside of a batch job.
  std::uint64_t job_hosts = 0, job_ranks = 0;
  std::vector<PlaceId> map = {};  // the place of each rank; empty if there is no map
  bool map_failed = false;
  double predicted = 0;  // share of the run time that the map would save
  std::vector<TimedRun> runs = {};
};

MapHistory trial_of(const RunHistory& history);

/// Returns the history file of a command in the current folder: a file in $XDG_DATA_HOME/poise/runs
/// or ~/.local/share/poise/runs, whose name is a hash of the folder and the command. Empty if there
/// is no home directory.
std::string usual_history_file(const std::vector<std::string>& command);
/// Returns the file of the profile that belongs to a history file. Its name is that of the history
/// file, with the suffix replaced by .poise. If the history file has the suffix .poise already, a
/// second .poise is appended.
std::string profile_beside(const std::string& history_file);

/// Locks the folder of a history file while this object exists, because two runs of the same
/// command may overlap. Does nothing if the file system has no locks.
class HistoryLock {
 public:
  explicit HistoryLock(const std::string& history_file);
  ~HistoryLock();
  HistoryLock(const HistoryLock&) = delete;
  HistoryLock& operator=(const HistoryLock&) = delete;

 private:
  int folder_;
};

/// Reads a history. Returns an empty one if there is no such file. Throws Error if the file is
/// damaged or belongs to another command.
RunHistory read_history(const std::string& path, const std::vector<std::string>& command);
/// Writes a history. Creates the folder if necessary. Throws Error if the file cannot be written.
void write_history(const std::string& path, const RunHistory& history);

}  // namespace poise::apps
