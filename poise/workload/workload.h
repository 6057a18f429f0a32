// SPDX-License-Identifier: BSD-3-Clause
// What a program measured about itself in one phase: tasks, messages and background load.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "poise/machine/machine.h"

namespace poise {

using TaskId = std::uint32_t;

struct Task {
  double load_s = 0;        // seconds on a place of speed 1
  std::uint64_t bytes = 0;  // bytes that a migration sends
  bool movable = true;
  std::uint32_t parts = 1;  // number of tasks in this entry, which migrate together
};

/// `count` messages from one task to another in one phase, with `bytes` in total. A pair of tasks
/// may have several entries, which add up.
struct Message {
  TaskId from = 0, to = 0;
  std::uint64_t count = 1, bytes = 0;
};

/// Memory of a task at its place, as in the CCM model of DARMA/vt.
struct TaskMemory {
  std::uint64_t footprint_bytes = 0;  // memory that the task needs as long as it exists
  /// Additional memory while the task runs; a place runs one task at a time.
  std::uint64_t working_bytes = 0;
  std::int32_t shared_block = -1;  // index into shared_block_bytes; -1: none
};

/// Limits how many tasks a place may hold: together they must not take more cores than the place
/// has. A task takes one core or, if it has several threads, as many cores as threads. Without
/// limits, a place holds any number of tasks.
struct Capacity {
  std::uint32_t per_place = 0;                // cores per place, equal for all places; 0: no limit
  std::vector<std::uint32_t> of_places = {};  // cores of each place; overrides per_place
  std::vector<std::uint32_t> of_domains;  // cores per domain, in addition to the limits of places
  std::vector<std::uint32_t> cores;       // cores of each task; empty: one each

  bool is_limited() const { return per_place != 0 || !of_places.empty() || !of_domains.empty(); }
  std::uint32_t cores_of(TaskId t) const { return cores.empty() ? 1 : cores[t]; }
  /// Returns the number of cores of place p: its entry in of_places, or if that list is empty,
  /// per_place. Without a limit, returns the largest value of the type.
  std::uint32_t of_place(PlaceId p) const {
    if (!of_places.empty()) return of_places[p];
    return per_place != 0 ? per_place : ~std::uint32_t{0};
  }
};

/// How the times of an iteration's subphases are combined into the time of the iteration
/// (placement/subphases.h).
enum class SubphaseRule : std::uint8_t {
  no_wait,  ///< one after the other at each place: only the sum of a task's loads counts
  wait,     ///< all places wait for the busiest after each subphase
  overlap,  ///< all at once, such as work for processor cores, GPUs and input: the busiest counts
};

/// Which costs of messages the measured loads already contain, so that a formula does not add them
/// again. Loads of Charm++ contain sending and receiving (Pilla et al., ICPP 2012, section IV);
/// loads from a profile contain neither.
enum class LoadsInclude : std::uint8_t { none, send, send_and_receive };

/// One phase of a program. Optional columns are empty if unknown; otherwise they have one entry per
/// task or per place.
struct Workload {
  std::vector<Task> tasks;
  std::vector<Message> messages;
  std::vector<double> background_s;  // background load of each place; empty: there is none

  std::vector<std::array<double, 3>> positions;  // position of each task, for geometric strategies
  std::vector<PlaceId> homes;                    // for each task the place where it was created
  std::vector<TaskMemory> memory;                // per task
  // Size of each shared block. Each place that needs a block stores it once.
  std::vector<std::uint64_t> shared_block_bytes;
  std::vector<std::uint64_t>
      place_bytes;  // per place: memory that the program uses besides its tasks
  /// Loads of each task by subphase; a row may be empty.
  std::vector<std::vector<double>> subphase_load_s;
  /// How the times of the subphases are combined into the time of an iteration. Runtimes and
  /// callers may set this rule; traces do not record it.
  SubphaseRule subphase_rule = SubphaseRule::no_wait;
  // Speed of each place in each subphase, at index place * number of subphases + subphase. Empty if
  // the speed of a place is the same in all subphases.
  std::vector<double> subphase_speed = {};
  Capacity capacity = {};

  LoadsInclude loads_include = LoadsInclude::none;
  /// The fraction of communication that the program hides behind computation, from 0 (it computes,
  /// then it communicates) to 1 (both overlap completely).
  double overlap = 0;

  TaskId num_tasks() const { return static_cast<TaskId>(tasks.size()); }
};

/// Throws Error naming the first invalid load, message or column, or if the sums exceed 1e15 s,
/// 2^53 messages or 2^53 bytes. Within these limits, sums and products do not overflow.
void check(const Workload& workload, std::uint32_t num_places);

double total_load_s(const Workload& workload);

}  // namespace poise
