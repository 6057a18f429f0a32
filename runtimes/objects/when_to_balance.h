// SPDX-License-Identifier: BSD-3-Clause
// Decides when to balance, as a pure function of the ranks' measurements.
#pragma once

#include <cstdint>

namespace poise::objects {

/// The data that the ranks share when they check whether to balance.
struct RunState {
  // Measurements since the last decision.
  std::uint64_t steps = 0;
  // Load of the busiest place. If the program has subphases, the load of the busiest place in each
  // subphase, summed over all subphases.
  double busiest_s = 0;
  double average_s = 0;  // average load of the places, each weighted by its number of threads

  // Measurements of the whole run.
  std::uint64_t total_steps = 0;
  std::uint64_t expected_steps = 0;  // CollectionOptions::expected_steps; 0: unknown

  // Measurements of the last decision.
  double reachable_imbalance = 1;  // predicted imbalance of the placement that was decided
  double cost_s = 0;               // seconds that the decision and its migrations took
};

struct BalanceVerdict {
  bool balance_now = false;
  std::uint64_t next_check = 0;  // check again this many steps after the last decision
};

/// The number of steps after a decision until the first check. Checks communicate, so they are
/// rare.
std::uint64_t first_check();

/// Balancing pays if the time that it saves in the remaining steps exceeds the cost of the last
/// decision. If the number of remaining steps is unknown, it is assumed to equal the number of
/// steps so far. After each check that finds that balancing does not pay, the number of steps until
/// the next check doubles, up to a limit.
BalanceVerdict when_to_balance(const RunState& state);

}  // namespace poise::objects
