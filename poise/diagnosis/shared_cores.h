// SPDX-License-Identifier: BSD-3-Clause
// What a run loses because ranks share cores, and what would help.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "poise/diagnosis/advice.h"
#include "poise/diagnosis/replayed_run.h"
#include "poise/trace/trace.h"

namespace poise {

/// The number of ranks and of cores of each node of the machine.
struct NodeSizes {
  std::vector<std::uint32_t> ranks, cores;
  std::vector<NodeId> of_rank;
};

/// `trace` must have a machine.
NodeSizes node_sizes(const Trace& trace);

/// Returns the idle time in the whole run, averaged over the cores, if a node has more ranks than
/// cores; otherwise returns nothing.
std::optional<double> idle_on_shared_cores_s(const MeasuredRun& run, const NodeSizes& nodes);

/// Limits the predicted savings to `idle_s` if ranks share cores: even if the work is balanced
/// perfectly, the cores still need time to do it. Ranks that spin while they wait take core time
/// from ranks that work, so it is unknown how much of the limit balancing can save. Therefore the
/// interval of a saving by balancing covers everything from zero to the limit, unless the saving is
/// an upper bound already. Exclusive nodes and a larger quota do not balance work: the limit lowers
/// their predicted saving, but not the lower end of its interval.
void limit_on_shared_cores(std::vector<Advice>& advice, double idle_s);

/// Adds the advice to start fewer ranks on crowded nodes, or to use `poise juggle` there. Nodes
/// with more ranks than cores lose time in two ways: ranks spin while others need their core, and
/// some cores have one rank more than others. If ranks are not bound to cores, the kernel moves
/// them between cores and so avoids the second loss.
void add_advice_on_crowded_nodes(const MeasuredRun& run, const Trace& trace, const NodeSizes& nodes,
                                 const ReplayedRun& replay, std::vector<Advice>& advice);

/// Adds the advice to bind each rank to one core if ranks share or change cores although each could
/// have its own. Does nothing if a rank computes with several threads, which would be slower on one
/// core.
void add_advice_on_binding(const MeasuredRun& run, const Trace& trace, const NodeSizes& nodes,
                           std::vector<Advice>& advice);

}  // namespace poise
