// SPDX-License-Identifier: BSD-3-Clause
// Computes a placement that may move every task, with little traffic between distant places and a
// cap on load.
#pragma once

#include "poise/partition/graph.h"
#include "poise/placement/problem.h"
#include "poise/search/tuning.h"

namespace poise {

struct Effort {
  unsigned attempts = kTuning.attempts;  // seeds per bisection
  unsigned climbs = kTuning.climbs;      // number of hill climbs that lower the traffic
  unsigned threads = 1;                  // number of threads; the placement does not depend on it
};

/// Cuts the tasks along the machine's tree (multisection.h), enforces the load cap by moves and
/// exchanges (load_cap.h), and lowers the seconds of all messages by moving single tasks
/// (traffic_descent.h). Finally, if all tasks are movable, groups of places that have the same size
/// exchange all their tasks, so that as many tasks as possible stay at their current place. Tasks
/// that are not movable stay. O((n + m) log p) for n tasks, m messages and p places.
///
/// Returns the current placement instead if it is at least as good as the new one: it must have no
/// more traffic, and its makespan must be within the cap or no longer than the new one's makespan.
///
Placement placed_from_scratch(const Problem& problem, const Effort& effort,
                              const Tuning& tuning = kTuning);

/// Does the same with a graph that the caller has already made: `graph` must be the traffic_graph()
/// of the problem.
Placement placed_from_scratch(const Problem& problem, const graphs::Graph& graph,
                              const Effort& effort, const Tuning& tuning);

}  // namespace poise
