// SPDX-License-Identifier: BSD-3-Clause
// Converts the rows of one PE to the tasks of a decision by all PEs together.
#pragma once

#include <cstdint>
#include <vector>

#include "runtimes/charm/convert.h"
#include "runtimes/charm/statistics.h"

#include "poise/distributed/own_tasks.h"

namespace poise::charm {

/// Returns the task id of an object, or of a PE that itself sends messages, in a decision by all
/// PEs together.
std::uint64_t task_id_of(const ObjectName& object);
std::uint64_t task_id_of_pe(std::int32_t pe);

/// The tasks of one PE. First come its objects, in order of their names. If the PE itself sends
/// messages, one more task follows; it has no load and is pinned.
struct OwnArrays : poise::OwnArrays {
  std::vector<std::uint32_t> row_of_task;  // of the objects
  /// Per message: its receiver, and the PE to which it was sent (-1 if this PE is unknown).
  std::vector<ObjectName> receivers;
  std::vector<std::int32_t> sent_to_pe;
};

/// `own` has the row of a single PE and the rows of all its objects. Messages that neither this PE
/// nor its objects sent are dropped. Loads are seconds at speed 1: measured seconds times `speed`.
/// Messages from one sender to one receiver are combined into one, and every member of a multicast
/// receives the whole message. `to_rank` remains empty.
OwnArrays own_arrays(const Statistics& own, double speed, Messages messages);

/// Sets `to_rank` to the ranks of the receivers, one per message, and drops the messages whose rank
/// is kNoRank (poise/distributed/rank_directory.h).
void set_ranks(OwnArrays& arrays, const std::vector<std::uint32_t>& rank_of_receiver);

}  // namespace poise::charm
