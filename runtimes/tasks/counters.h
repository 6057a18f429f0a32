// SPDX-License-Identifier: BSD-3-Clause
// The counters of a context on each rank, and the failures of its tasks.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>

namespace poise::tasks {

/// A task that ended with an exception.
struct Failure {
  std::string function, text;
  std::uint32_t rank = 0;             // the rank that ran the task
  std::uint64_t name = 0;             // With::name; 0: none
  std::source_location submitted_at;  // where the program submitted the task; line 0: unknown
};

/// The counters of one rank since its context was created.
struct Counters {
  std::uint64_t submitted = 0, ran_own = 0, ran_borrowed = 0;  // tasks
  // Time in tasks, summed over threads. The time that a task spends in waits and yields does not
  // count, but the time of other tasks that the thread runs meanwhile counts.
  double working_s = 0;
  double waiting_s = 0;   // time in waits, spent running tasks or idle
  double transfer_s = 0;  // time to pack and unpack lent tasks and their results
  // Time in waits, summed over threads, minus the time in tasks and transfers. A wait inside a task
  // is part of the wait in which the task runs.
  // Counts only waits that have ended.
  double idle_s = 0;
  std::uint64_t lent = 0, returned = 0, failed = 0;  // tasks
  std::uint64_t requests = 0, declines = 0;          // steal requests sent, and those declined
  std::uint64_t loans = 0;                           // messages that carried lent tasks
  std::uint64_t bytes_lent = 0, bytes_back = 0, messages = 0;
  // Bytes that lent tasks read and wrote, in three parts: sent in messages, copied once within the
  // node's shared memory, and accessed in place.
  std::uint64_t bytes_sent = 0, bytes_copied = 0, bytes_in_place = 0;
  // Number of task copies (replicas) that this rank sent to other ranks, and number of copies from
  // other ranks that ran on this rank.
  std::uint64_t replicas_sent = 0, replicas_won = 0;
  std::uint64_t answers = 0;  // loans that answered a steal request
  // The largest number of tasks lent to a single rank.
  std::uint64_t lent_to_one = 0;
  std::uint32_t most_to = 0;  // the rank to which most tasks were lent
};

}  // namespace poise::tasks
