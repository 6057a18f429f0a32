// How a collection balances itself: what the program asks for, and what its user's environment
// says, which has the last word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace poise::objects {

enum class Clock : std::uint8_t {
  cpu,   // a thread's CPU time: other programs on the machine do not disturb it
  wall,  // for steps that wait for something else than the processor
};

/// Who decides.
enum class Mode : std::uint8_t {
  automatic,     // hierarchical above 256 places on several hosts with several each, else root
  root,          // rank 0, from everybody's numbers
  replicated,    // every rank, from the same numbers
  hierarchical,  // leaders of hosts among hosts, then each leader inside its own
};

struct Options {
  std::string name = "objects";       // in messages
  std::string strategy = "poise";     // POISE_STRATEGY: as for `poise plan`
  std::uint32_t period = 0;           // POISE_PERIOD: steps between decisions; 0: when asked only
  bool is_automatic = false;          // POISE_PERIOD=auto: when it pays
  std::uint64_t expected_steps = 0;   // of the whole run, for `auto`; 0: as many again as so far
  std::string placement = "blocked";  // at start: a name of poise/placement/initial.h
  Clock clock = Clock::cpu;           // POISE_CLOCK: cpu or wall
  Mode mode = Mode::automatic;        // POISE_MODE: auto, root, replicated, hierarchical
  std::string trace = {};             // POISE_TRACE: record a trace here, a phase per decision
  std::string timeline = {};         // POISE_TIMELINE: what every place did over time, for pictures
  std::string log = {};              // POISE_LOG: a line per decision to this file; -: to stderr
  double budget_s = 0;               // POISE_BUDGET: what a decision may take (2s); 0: anything
  std::uint32_t threads = 0;         // of a rank; 0: OMP_NUM_THREADS, else 1
  bool place_per_thread = false;     // POISE_PLACES: rank or thread
  bool lend = false;                 // POISE_LEND=1: idle ranks borrow steps of others' objects
  std::uint32_t ranks_per_host = 0;  // POISE_RANKS_PER_HOST; 0: as MPI sees it
  std::uint64_t seed = 1;
  /// Where steps are not all alike: which kind each is, below 64 and the same on every rank. Loads
  /// are then known by kind, and `poise` evens out each. Empty: all are one kind.
  std::function<std::uint32_t(std::uint64_t step)> subphase_of_step = {};
  std::size_t max_piece_bytes = std::size_t{1} << 30;  // of one MPI message
};

/// The options with the environment applied. POISE_STRATEGY without POISE_PERIOD, where the program
/// names none, means POISE_PERIOD=auto. Throws Error naming the variable and what would work.
Options with_environment(Options options,
                         const std::function<const char*(const char*)>& environment);

}  // namespace poise::objects
