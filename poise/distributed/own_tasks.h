// SPDX-License-Identifier: BSD-3-Clause
// The part of a distributed workload that one rank knows: its own tasks and the messages that they
// send.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/workload/workload.h"

namespace poise {

/// Arrays that the caller owns. An array whose comment mentions `empty` is optional.
struct OwnTasks {
  std::span<const std::uint64_t> ids;    // id of each task, unique among the tasks of all ranks
  std::span<const double> load_s;        // per task
  std::span<const std::uint64_t> bytes;  // bytes of each task; empty if migrations send no bytes
  /// For each task, a value other than 0 if it must not move. Empty if all tasks may move.
  std::span<const std::uint8_t> pinned;
  /// Messages by sender in CSR form: task t sends to the tasks with the ids to[i], for first[t] <=
  /// i < first[t + 1]. If there are no messages, the arrays are empty.
  std::span<const std::uint64_t> first;
  std::span<const std::uint64_t> to;
  /// For each entry of `to`, the rank that has the task. Empty if the ranks have to be looked up.
  std::span<const std::uint32_t> to_rank;
  /// For each entry of `to`, the number of messages. Empty if each entry is one message.
  std::span<const std::uint64_t> counts;
  /// For each entry of `to`, the bytes of all its messages together. Empty if messages have no
  /// bytes.
  std::span<const std::uint64_t> message_bytes;
  double background_s = 0;  // seconds that this rank works outside its tasks
  LoadsInclude loads_include = LoadsInclude::none;  // must be the same on all ranks

  std::uint32_t num_tasks() const { return ids.size(); }
  std::uint64_t count(std::size_t i) const { return counts.empty() ? 1 : counts[i]; }
  std::uint64_t bytes_of_message(std::size_t i) const {
    return message_bytes.empty() ? 0 : message_bytes[i];
  }
};

/// Owns the arrays to which an OwnTasks refers. Members of the same name have the same meaning.
struct OwnArrays {
  std::vector<std::uint64_t> ids, bytes, first{0}, to, counts, message_bytes;
  std::vector<double> load_s;
  std::vector<std::uint8_t> pinned;
  std::vector<std::uint32_t> to_rank;
  double background_s = 0;
  LoadsInclude loads_include = LoadsInclude::none;

  /// Returns these arrays as an OwnTasks, with an empty `to_rank` if knows_ranks is false.
  OwnTasks view(bool knows_ranks = true) const {
    return {.ids = ids,
            .load_s = load_s,
            .bytes = bytes,
            .pinned = pinned,
            .first = first,
            .to = to,
            .to_rank = knows_ranks ? std::span<const std::uint32_t>(to_rank)
                                   : std::span<const std::uint32_t>(),
            .counts = counts,
            .message_bytes = message_bytes,
            .background_s = background_s,
            .loads_include = loads_include};
  }
};

/// Throws Error naming the first wrong array, index and value. It does not check that ids are
/// unique or that receivers exist.
void check(const OwnTasks& own, std::uint32_t num_ranks);

}  // namespace poise
