// What one rank measured in one phase.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtimes/profile/function.h"
#include "runtimes/profile/pair_table.h"

namespace poise::profile {

/// Sums of times and calls. Useful time is all time outside MPI on the thread that initialised it.
struct Totals {
  std::int64_t useful_ns = 0;
  std::int64_t long_wall_ns = 0, long_cpu_ns = 0;  // of useful stretches whose CPU time was read
  std::array<std::int64_t, kNumKinds> mpi_ns = {};
  std::array<std::uint64_t, kNumKinds> calls = {};
  std::uint64_t not_understood = 0;    // calls that may send, but whose traffic is not known
  std::uint64_t outside_messages = 0;  // to ranks that are not in MPI_COMM_WORLD
  std::int64_t sampled_ns = 0;         // of the collectives that were sampled
  Totals& operator+=(const Totals& other);
  Totals& operator-=(const Totals& other);
};

/// What the kernel says of the thread and its process.
struct Machinery {
  std::int64_t run_ns = 0, queued_ns = 0;  // on a cpu, and ready but not on one: since the start
  std::uint64_t peak_bytes = 0;            // high-water mark of resident memory
  std::int32_t cpu = -1;                   // where the thread runs; -1: not known
};

/// Waiting for ranks that entered a collective late, found by sampling.
struct Waiting {
  std::uint32_t samples = 0;
  std::int64_t waited_ns = 0;  // in the samples
  double squares = 0;          // sum of the samples' squared waits, in s^2
  std::vector<std::pair<std::uint32_t, std::int64_t>> for_whom = {};  // rank that was last, ns
};

struct Phase {
  std::uint64_t label = 0;  // of MPI_Pcontrol; 0: none
  std::int64_t begin_ns = 0, end_ns = 0;
  Totals totals = {};
  std::int64_t useful_cpu_ns = 0;
  std::int64_t queued_ns = 0;  // ready but not on a cpu, inside and outside MPI
  std::uint64_t peak_bytes = 0;
  std::int32_t cpu = -1;
  std::vector<Traffic> traffic = {};
  Waiting waiting = {};
};

/// The CPU time of useful stretches. That of long stretches was read; in the others the share of
/// the time that the thread was ready but not running is taken to be that of the rest of the phase.
std::int64_t useful_cpu_ns(const Totals& totals, std::int64_t wall_ns, std::int64_t queued_ns);

/// Adds a phase to an earlier one: sums, the later end, the larger peak, the later cpu.
void merge(Phase& into, const Phase& later);

}  // namespace poise::profile
