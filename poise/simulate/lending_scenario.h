// SPDX-License-Identifier: BSD-3-Clause
// The input of a simulation in which ranks lend tasks to one another.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/online/lending_agent.h"

namespace poise {

/// A number of equal tasks that a rank submits when it begins to wait for all tasks to finish.
struct SimulatedWork {
  std::uint32_t tasks = 0;
  double task_s = 0;           // seconds that a task takes on a rank of slowness 1
  std::uint32_t children = 0;  // tasks that each task submits when it ends, on the rank that ran it
};

struct LendingScenario {
  std::uint32_t num_ranks = 2;
  std::uint32_t ranks_per_node = 1;
  /// The work of each rank; ranks beyond the end of the list have none.
  std::vector<std::vector<SimulatedWork>> work;
  /// The slowness of each rank; 1 for ranks beyond the end of the list.
  std::vector<double> slowness;
  std::vector<double> enter_s;  // by rank: time at which the rank enters the wait; 0 if not given
  /// By rank: length of a time slice in seconds, if the rank and a competitor that always computes
  /// use the core in turn. In the competitor's slices, the rank neither runs tasks nor handles
  /// messages. If the value is 0 or not given, the rank has the core alone.
  std::vector<double> slice_s;
  double bytes_per_task = 128;  // bytes of a lent task and of its result together
  /// Maximum total bytes of the tasks in one message. A message with a single task may be larger.
  double message_bytes = std::numeric_limits<double>::infinity();
  /// True if the program states the time of each task as its cost. Otherwise every task costs 1,
  /// and ranks know only the mean time of their tasks. In both cases a rank decides how many tasks
  /// to lend, not which ones.
  bool gives_costs = true;
  /// If given, messages travel over the links of this machine, so their times do not depend on
  /// near_latency_s, far_latency_s, card_bytes_per_s and message_overhead_s.
  const Machine* machine = nullptr;
  std::vector<PlaceId> places;  // by rank: its place on `machine`; empty: rank r is at place r
  double near_latency_s = 1e-6, far_latency_s = 2e-6;  // latencies inside a node and between nodes
  double card_bytes_per_s = 12.5e9;    // bytes per second that a node's network card sends
  double task_overhead_s = 0.2e-6;     // CPU time to pack or unpack a task or a result
  double message_overhead_s = 0.5e-6;  // CPU time to send or receive a message
  double decision_s = 2e-6;            // CPU time of a decision about loans
  /// Maximum of an additional random delay of each message. Messages between two ranks stay in
  /// order.
  double max_delay_s = 0;
  /// The fraction stall_share of all messages arrives stall_s seconds late. Later messages between
  /// the same two ranks cannot overtake them, so they arrive in a burst.
  double stall_share = 0, stall_s = 0;
  /// Additional delay of messages that report loads, and of requests and their answers, so that a
  /// rank learns late that another one is slow or idle. All other messages (those with tasks,
  /// results or copies, those that confirm results, and those that detect the end of the wait) do
  /// not have this delay, so they may overtake the delayed ones.
  double news_delay_s = 0;
  /// When a rank enters the wait, it copies this share of its tasks, from the end of its queue.
  /// The copies go to the other ranks in turn. A rank with nothing to do goes through the copies
  /// that it holds, and asks the owner of each copied task for permission to run the task.
  double replicated_share = 0;
  /// If true, ranks take a copied task by an atomic operation in memory that they share, instead of
  /// asking the owner.
  bool shares_tokens = false;
  /// Time after which a progress thread handles a message that arrives during a task; also the
  /// minimum time for which this thread sleeps (progress_sleep_s). If the time is infinite, there
  /// is no progress thread, and the message is handled when the task ends.
  double progress_s = std::numeric_limits<double>::infinity();
  std::uint32_t waits = 1;  // number of waits, one after the other, each with the same work
  /// True if all ranks meet at a barrier between two waits. Then enter_s counts from this barrier,
  /// and the times, loans and copies in LendingOutcome are those of the last wait only. In the last
  /// wait, ranks use what they learnt in the waits before it.
  bool meets = false;
  std::uint64_t seed = 1;
  LendingAgent::Settings settings = {};
  std::size_t max_peers = lending_tuning::kMaxPeers;
  std::uint64_t max_events = UINT64_MAX;
  /// Number of events between two checks that no task is lost; 0: only one check at the end.
  std::uint64_t recount_every = 0;
  bool has_spans = false;  // true: records what every rank does
};

}  // namespace poise
