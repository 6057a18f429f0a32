// SPDX-License-Identifier: BSD-3-Clause
// Tells other ranks the load of this rank, and learns their loads: inside the node through shared
// memory, between nodes by gossip. In addition, every message carries loads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtimes/tasks/offload/load_table.h"
#include "runtimes/tasks/offload/messenger.h"

namespace poise::tasks {

class LoadExchange {
 public:
  /// Collective.
  LoadExchange(MPI_Comm communicator, Messenger& messenger);

  /// Writes this rank's load into the table. Does nothing if this rank has no tasks to lend and has
  /// already written this into the table during the current wait.
  void publish(const TaskPool::State& state);
  /// Reads loads of other ranks from the shared table, before a decision that uses them. Each call
  /// reads at most kMaxSearched entries, and continues where the previous call stopped.
  void read_table();
  /// Reads the load of one rank. Returns false if that rank shares memory with this one, but has
  /// published no load: it has never been in a wait.
  bool read_table(std::uint32_t rank);
  /// If this rank has more tasks to lend than threads, occasionally sends its load to one of its
  /// gossip partners; the partners take turns. No doorbell is rung, so sleeping threads of the
  /// partner do not wake.
  void gossip(const TaskPool::State& state);

 private:
  Messenger& messenger_;
  LoadTable table_;
  /// The other ranks that share memory with this one, nearest first.
  std::vector<std::uint32_t> node_;
  std::size_t next_read_ = 0;
  bool all_see_table_ = true;  // every other rank can read the table
  Load published_;
};

}  // namespace poise::tasks
