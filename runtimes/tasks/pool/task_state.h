// SPDX-License-Identifier: BSD-3-Clause
// The states of a task and the order in which they may follow one another. docs/tasks_how.md shows
// the same table; task_state_test.cc compares both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace poise::tasks {

/// A lent or replicated task has one object `Task` on its owner rank and one on each rank to which
/// it was sent. Each of these objects has a state of its own.
enum class TaskState : std::uint8_t {
  created,       // being submitted by the program, or being read from a message
  blocked,       // waits for earlier tasks that access the same data
  queued,        // in the queue of this rank
  taken,         // taken out of the queue, to be run, lent or replicated
  running,       // in a batch that a thread of this rank runs
  lent,          // a task of this rank that another rank has borrowed
  replica_runs,  // a task of this rank of which another rank runs a replica
  /// A task of this rank whose outputs are arriving from the rank that ran it, or that failed in
  /// on_lend.
  ending,
  /// A copy of another rank's task; it may run here as soon as this rank gets its token.
  replica,
  ran,  // a task of another rank that ran here; its results are not sent yet
  /// A task of another rank that has left this rank: its results were sent to the owner, or the
  /// task itself was sent to another rank.
  sent,
  finished,  // a task of this rank that is done: its outputs are in place, or it failed
};

struct TaskStateRow {
  const char* name;
  std::uint16_t next;  // bit s is set if state s may follow
};

template <typename... States>
constexpr std::uint16_t states(States... each) {
  return static_cast<std::uint16_t>((0U | ... | (1U << static_cast<unsigned>(each))));
}

/// By state.
inline constexpr TaskStateRow kTaskStates[] = {
    {"created", states(TaskState::blocked, TaskState::queued, TaskState::replica)},
    {"blocked", states(TaskState::queued)},
    {"queued", states(TaskState::taken)},
    {"taken", states(TaskState::queued, TaskState::running, TaskState::lent,
                     TaskState::replica_runs, TaskState::ending, TaskState::sent)},
    {"running", states(TaskState::ran, TaskState::finished)},
    {"lent", states(TaskState::queued, TaskState::ending)},
    {"replica_runs", states(TaskState::queued, TaskState::ending)},
    {"ending", states(TaskState::finished)},
    {"replica", states(TaskState::queued)},
    {"ran", states(TaskState::sent)},
    {"sent", states()},
    {"finished", states()},
};
static_assert(std::size(kTaskStates) == static_cast<std::size_t>(TaskState::finished) + 1);

constexpr bool may_follow(TaskState next, TaskState present) {
  return (kTaskStates[static_cast<std::size_t>(present)].next & states(next)) != 0;
}

}  // namespace poise::tasks
