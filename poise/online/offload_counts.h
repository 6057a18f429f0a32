// SPDX-License-Identifier: BSD-3-Clause
// Offload policies that compare only the numbers of queued tasks of the ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/online/lending.h"

namespace poise {

/// The conditions for a loan (how many tasks the lender must have queued, and how much the numbers
/// of queued tasks of the two ranks must differ) and the number of tasks lent.
struct CountThresholds {
  double min_local = 2;        // minimum number of tasks queued at the lender
  double min_absolute = 2;     // minimum difference between the two ranks' numbers of tasks
  double min_relative = 0.05;  // minimum difference, as a fraction of the lender's number of tasks
  double share = 0.5;          // fraction of the two ranks' difference that is lent in one loan
  double max_tasks = 1;        // maximum number of tasks in one loan
};

/// The sort-based selection of Klinkenberg et al., "CHAMELEON: Reactive Load Balancing for Hybrid
/// MPI+OpenMP Task-Parallel Applications", JPDC 2020, section 3.4 and figure 1. With ranks sorted
/// by load, the heaviest may lend to the lightest, the second heaviest to the second lightest, and
/// so on. Figure 1 assumes that only ranks above the average load lend; as in the CHAMELEON
/// library, any rank of the heavier half may lend here. `tasks` is the number of queued tasks per
/// rank; ties: by rank number. Returns at most one loan.
std::vector<Loan> paired_loans(std::span<const double> tasks, std::uint32_t self,
                               const CountThresholds& thresholds);

/// A simple selection, with which Klinkenberg et al. compare their own (paired_loans()): each rank
/// with an above-average load lends to the rank with the lightest load.
std::vector<Loan> lightest_loans(std::span<const double> tasks, std::uint32_t self,
                                 const CountThresholds& thresholds);

}  // namespace poise
