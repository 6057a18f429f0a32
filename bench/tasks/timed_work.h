// SPDX-License-Identifier: BSD-3-Clause
// Functions for the programs that measure tasks: work of a given length, and a competitor for the
// cores.
#pragma once

#include <atomic>
#include <cstdint>
#include <mpi.h>
#include <thread>

#include "poise/base/clock.h"

namespace poise::bench {

/// Measures how fast this machine computes. All ranks must call it together, before compute_us().
void calibrate();
/// Does an amount of work that takes `us` microseconds on an undisturbed core. An interrupted rank
/// does the same amount, and so takes longer.
void compute_us(double us);
void sleep_us(double us);

/// A barrier in which waiting ranks sleep instead of spinning.
void meet_asleep();

/// Runs `part` on all ranks, which start together. Returns the seconds until the last rank has
/// finished. Collective.
template <typename Part>
double seconds_of(Part part) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin_s = wall_now_s();
  part();
  double seconds = wall_now_s() - begin_s;
  meet_asleep();
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

/// A thread that computes and sleeps in turn, each time for 0.1 to 3 ms. The lengths depend only on
/// the seed, so two runs with the same seed meet the same competitor.
class Competitor {
 public:
  explicit Competitor(std::uint64_t seed);
  ~Competitor();
  Competitor(const Competitor&) = delete;
  Competitor& operator=(const Competitor&) = delete;

 private:
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

}  // namespace poise::bench
