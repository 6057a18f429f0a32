// SPDX-License-Identifier: BSD-3-Clause
// The physical cost of messages: CPU time at both ends, resources that messages share, and latency.
//
// All messages from one place to another form a flow: n messages with b bytes in total.
//
//     O(p) = sum of (n * send_s + b * copy) over the flows that p sends
//          + sum of (n * receive_s + b * copy) over the flows that p receives    CPU time of p
//     T(r) = sum of (n * gap(r) + b / bandwidth(r)) over the flows that cross resource r
//     X(p) = max of T(r) over the resources r that p's flows cross
//          + max of latency over p's partners                         latencies overlap
//     busy(p) = max(W(p) + O(p) + (1 - overlap) * X(p), X(p))
//
// W(p) is the work of p, and `overlap` belongs to the workload. The costs send_s, receive_s, copy,
// gap and bandwidth are those of cost_model.h. Inside a node, receiving costs receive_s times the
// NUCO factor and copy times the bandwidth factor, because the receiver reads the sender's memory.
// The model leaves out caches, noise, changes of the message protocol, and bus use by computation.
#pragma once

#include <vector>

#include "poise/machine/machine.h"
#include "poise/machine/resources.h"
#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise {

/// CPU seconds that messages cost their sender and their receiver.
struct EndTimes {
  double sender_s = 0, receiver_s = 0;
};

/// CPU seconds of `count` messages with `bytes` in total; 0 between tasks of one place.
EndTimes end_times(const Machine& machine, const CostModel& costs, LoadsInclude loads_include,
                   double count, double bytes, PlaceId from, PlaceId to);

/// Seconds between the end of sending and the start of receiving; 0 if both tasks are at one place.
/// Inline, because computing the cost of a placement calls it once per message.
inline double latency_s(const Machine& machine, const CostModel& costs, PlaceId from, PlaceId to) {
  if (from == to) return 0;
  const DomainId here = machine.domain_of(from), there = machine.domain_of(to);
  const NodeId node_from = machine.node_of(here), node_to = machine.node_of(there);
  if (node_from != node_to)
    return costs.network.latency_s * machine.network().latency_factor(node_from, node_to);
  if (here == there && machine.has_equal_messages_inside()) return costs.inside.latency_s;
  return costs.inside.latency_s * machine.message_factor(from, to);
}

/// Everything that the messages of a phase cost under a placement, in seconds.
struct MessageTimes {
  std::vector<double> overhead_s;  // O of each place: its CPU time
  std::vector<double> exposed_s;   // X of each place: its waiting time
  std::vector<double> latency_s;   // the part of X of each place that is due to latency
  std::vector<double> resource_s;  // T of each resource: its busy time
};

/// Computes the costs of all messages of a phase. O(messages * tiers + places + resources).
MessageTimes message_times(const Machine& machine, const Workload& workload, const CostModel& costs,
                           const Placement& placement);

/// Like message_times(), but leaves out exposed_s (X), which the callers compute themselves, and
/// latency_s.
/// O(messages * tiers + places + resources).
MessageTimes message_times_without_waiting(const Machine& machine, const Workload& workload,
                                           const CostModel& costs, const Placement& placement);

/// Seconds from the start of sending to the end of receiving if no other message uses the
/// resources: the time at both ends, the time on the slowest resource, and the latency.
double physical_message_s(const Machine& machine, const CostModel& costs, const Message& message,
                          PlaceId from, PlaceId to);

/// Busy time of a place, by the formula at the top of this file.
double busy_s(double work_s, double overhead_s, double exposed_s, double overlap);

/// Returns for each place the seconds that it takes to move tasks from `before` to `after`, as if
/// each task were a message of its size: the time to pack the tasks that leave the place and to
/// unpack those that arrive, plus the time of the slowest resource that they cross. It is 0 for
/// places that no task leaves or enters.
std::vector<double> physical_migration_s(const Machine& machine, const Workload& workload,
                                         const CostModel& costs, const Placement& before,
                                         const Placement& after);

}  // namespace poise
