// SPDX-License-Identifier: BSD-3-Clause
// The options of a collection of objects. The program sets them, and the environment variables
// named here override them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace poise::objects {

/// The clock that measures loads.
enum class Clock : std::uint8_t {
  cpu,   // CPU time of the thread: not affected by other programs on the machine
  wall,  // wall time: for steps that wait for something other than the processor
};

/// The ranks that decide on a placement.
enum class Mode : std::uint8_t {
  automatic,     // hierarchical above 256 places on several hosts, where possible; otherwise root
  root,          // rank 0 decides, from the measurements of all ranks
  replicated,    // every rank decides, all from the same measurements
  hierarchical,  // all ranks decide together; a rank knows its own objects only (joint_decision.h)
};

/// New members come last, because designated initializers depend on the order of members.
struct CollectionOptions {
  /// The name of this collection of objects in messages to the user.
  std::string name = "objects";
  /// POISE_STRATEGY: name and knobs of a strategy, as for `poise plan`.
  std::string strategy = "poise";
  /// POISE_PERIOD: number of steps between decisions. With 0, objects move only in balance().
  std::uint32_t period = 0;
  /// POISE_PERIOD=auto: decide when it pays (when_to_balance.h). Only used if `period` is 0.
  bool is_automatic = false;
  /// Number of steps of the whole run, for POISE_PERIOD=auto. 0 if it is unknown.
  std::uint64_t expected_steps = 0;
  /// Initial placement: one of the names in poise/placement/initial.h.
  std::string placement = "blocked";
  /// POISE_CLOCK: the clock that measures loads, cpu or wall.
  Clock clock = Clock::cpu;
  /// POISE_MODE: the ranks that decide: auto, root, replicated or hierarchical.
  Mode mode = Mode::automatic;
  /// POISE_TRACE: record a trace in this file, with one phase per decision; empty: none.
  /// Collections that exist at the same time need different files.
  std::string trace = {};
  /// POISE_TIMELINE: record in this file when every place worked and waited; empty: none. If the
  /// same process is rank 0 of several collections with the file t.json, the collections write
  /// t.json, t.2.json, t.3.json, ... in the order of creation. Other collections need different
  /// files.
  std::string timeline = {};
  /// POISE_LOG: write one line per decision to this file. "-" means stderr; empty means no log.
  std::string log = {};
  /// POISE_BUDGET: time that a decision may take, for example 2s or 100ms; 0: no limit.
  double budget_s = 0;
  /// Number of threads per rank. With 0, it is the value of OMP_NUM_THREADS, or 1 if that variable
  /// is not set.
  std::uint32_t threads = 0;
  /// POISE_PLACES: with `thread` (true), each thread is a place with objects of its own; with
  /// `rank` (false), a rank is one place.
  bool place_per_thread = false;
  /// POISE_LEND=1: idle ranks run steps of other ranks' objects (step_offload.h).
  bool lend = false;
  /// POISE_RANKS_PER_HOST: number of consecutive ranks that count as one host. With 0, the ranks
  /// that share memory count as one host.
  std::uint32_t ranks_per_host = 0;
  /// Seed for strategies that draw random numbers, and for the placement "random".
  std::uint64_t seed = 1;
  /// A function for programs with several kinds of steps: it returns the kind of a step, a number
  /// below 64 that is the same on every rank. Loads are then measured per kind of step, and the
  /// strategy `poise` balances the load of each kind. If the function is empty, all steps count as
  /// alike.
  std::function<std::uint32_t(std::uint64_t step)> subphase_of_step = {};
  /// Maximum number of bytes of one MPI message, from 64 to 2^31 - 1. Larger messages are split.
  std::size_t max_piece_bytes = std::size_t{1} << 30;
};

/// Deprecated: the earlier name of CollectionOptions, so that older programs still compile.
using Options [[deprecated("call it CollectionOptions")]] = CollectionOptions;

/// Returns the options after the environment variables have been applied to them. POISE_STRATEGY
/// without POISE_PERIOD means POISE_PERIOD=auto, unless the program sets a period. If a setting is
/// invalid, throws an Error that names the setting and says what would be valid.
CollectionOptions with_environment(CollectionOptions options,
                                   const std::function<const char*(const char*)>& environment);

}  // namespace poise::objects
