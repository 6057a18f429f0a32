// SPDX-License-Identifier: BSD-3-Clause
// One call in which a rank may have waited for another rank.
#pragma once

#include <cstdint>

#include "runtimes/profile/phase.h"

namespace poise::profile {

struct Wait {
  std::int64_t entered_ns = 0, took_ns = 0, waited_ns = 0;
  /// The rank in MPI_COMM_WORLD that was late; -1: this rank did not wait.
  std::int32_t for_whom = -1;
  WaitsFor what = WaitsFor::collective;
  bool is_for_receiver = false;  // of a message
};

/// Of several waits in the same call, keeps the longest, because a call that waits for several
/// requests waits for all of them at the same time.
void keep_longest(std::vector<Wait>& waits);

/// Adds one wait to the sums of a phase.
void add(const Wait& wait, Waiting& waiting);

/// Adds each wait to the phase in which the waiting call was entered. The phases must be sorted by
/// time.
void add_waits(const std::vector<Wait>& waits, std::vector<Phase>& phases);

}  // namespace poise::profile
