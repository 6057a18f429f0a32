// SPDX-License-Identifier: BSD-3-Clause

#include "bench/tasks/timed_work.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "poise/base/clock.h"
#include "poise/base/random.h"

namespace poise::bench {

namespace {

double iterations_per_us = 0;

void compute(std::uint64_t iterations) {
  std::uint64_t x = iterations | 1;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    asm volatile("" : "+r"(x));
  }
}

}  // namespace

void calibrate() {
  double best_s = 1e9;
  for (int i = 0; i < 20; ++i) {
    const double begin_s = wall_now_s();
    compute(100000);
    best_s = std::min(best_s, wall_now_s() - begin_s);
  }
  iterations_per_us = 100000 / (best_s * 1e6);
  MPI_Bcast(&iterations_per_us, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

void compute_us(double us) { compute(static_cast<std::uint64_t>(us * iterations_per_us)); }

void sleep_us(double us) {
  const timespec length{static_cast<time_t>(us / 1e6), static_cast<long>(us * 1e3) % 1000000000};
  nanosleep(&length, nullptr);
}

void meet_asleep() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), done == 0;)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

Competitor::Competitor(std::uint64_t seed)
    : thread_([this, seed] {
        Random random(seed);
        while (!is_over_) {
          const double until_s = wall_now_s() + random.uniform(0.1e-3, 3e-3);
          while (!is_over_ && wall_now_s() < until_s) compute(1000);
          sleep_us(random.uniform(100, 3000));
        }
      }) {}

Competitor::~Competitor() {
  is_over_ = true;
  thread_.join();
}

}  // namespace poise::bench
