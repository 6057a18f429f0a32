// What a program measured about itself in one phase: tasks, their messages, and background load.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "poise/machine/machine.h"

namespace poise {

using TaskId = std::uint32_t;

struct Task {
  double load_s = 0;        // seconds on a place of speed 1
  std::uint64_t bytes = 0;  // what a migration sends
  bool movable = true;
};

/// `count` messages of `bytes` in all, in one phase; the same pair may appear again and adds up.
struct Message {
  TaskId from = 0, to = 0;
  std::uint64_t count = 1, bytes = 0;
};

/// Memory a task needs where it runs, as in the CCM model of DARMA/vt.
struct TaskMemory {
  std::uint64_t footprint_bytes = 0;  // while it exists
  std::uint64_t working_bytes = 0;    // more, while it runs; one task of a place runs at a time
  std::int32_t shared_block = -1;     // index into shared_block_bytes; -1: none
};

/// Empty optional columns mean: not known. The others have one entry per task or place.
struct Workload {
  std::vector<Task> tasks;
  std::vector<Message> messages;
  std::vector<double> background_s;  // per place, or empty: none

  std::vector<std::array<double, 3>> positions;   // per task: for geometric strategies
  std::vector<PlaceId> homes;                     // per task: where it was born
  std::vector<TaskMemory> memory;                 // per task
  std::vector<std::uint64_t> shared_block_bytes;  // per block: once on each place that needs it
  std::vector<std::uint64_t> place_bytes;         // per place: what the program itself holds there
  std::vector<std::vector<double>> subphase_load_s;  // per task and part of the phase, or no row
  /// Whether places wait for each other after each subphase, as a runtime may know and traces do
  /// not tell. placement/subphases.h says what that means.
  bool waits_in_subphases = false;

  TaskId num_tasks() const { return static_cast<TaskId>(tasks.size()); }
};

/// Throws Error naming the first load, message or column that cannot be, or what is in all more
/// than 1e15 s, 2^53 messages or 2^53 bytes: sums and products of what is checked do not overflow.
void check(const Workload& workload, std::uint32_t num_places);

double total_load_s(const Workload& workload);

}  // namespace poise
