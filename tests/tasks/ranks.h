// SPDX-License-Identifier: BSD-3-Clause
// Helpers for tests that all ranks run.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mpi.h>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <thread>
#include <vector>

#include "runtimes/tasks/context.h"
#include "runtimes/tasks/transport/collective.h"
#include "runtimes/tasks/transport/locality.h"

#include "poise/base/clock.h"

namespace poise::tasks {

inline int own_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int count_ranks() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// True if all ranks are on one node. Collective.
inline bool on_one_node() {
  const auto nodes = discover_locality(MPI_COMM_WORLD).nodes;
  return std::count(nodes.begin(), nodes.end(), 0U) == count_ranks();
}

inline std::uint64_t sum_over_ranks(std::uint64_t value) {
  reduce(MPI_COMM_WORLD, &value, 1, MPI_SUM);
  return value;
}

/// True on rank 0. MPI is asked for the rank only once, before several threads run.
inline bool is_first() {
  static const bool first = own_rank() == 0;
  return first;
}

/// Waits until all ranks have called this function.
inline void meet() {
  complete([](MPI_Request* request) { MPI_Ibarrier(MPI_COMM_WORLD, request); });
}

/// Calls `round` on all ranks until it returns true on all of them in the same round; returns false
/// after 200 s. Tests use it for events that need not happen in every round: on a busy machine a
/// rank may come too late to borrow a task. The limit ends only tests that would otherwise hang.
template <typename Round>
bool happens_in_some_round(const Round& round) {
  const double end_s = wall_now_s() + 200;
  for (;;) {
    int has_happened = round(), goes_on = wall_now_s() < end_s;
    reduce(MPI_COMM_WORLD, has_happened, MPI_MIN);
    reduce(MPI_COMM_WORLD, goes_on, MPI_MIN);
    if (has_happened || !goes_on) return has_happened;
  }
}

inline bool may_any_thread_call_mpi() {
  int level = 0;
  MPI_Query_thread(&level);
  return level >= MPI_THREAD_SERIALIZED;
}

/// Settings with a progress thread, if the thread level of MPI allows one.
inline std::string more_threads() {
  return may_any_thread_call_mpi() ? "progress_thread=on,progress_us=10" : "progress_thread=off";
}

inline const auto kPause = function("pause", [](std::span<const char>, int us) {
  std::this_thread::sleep_for(std::chrono::microseconds(us));
});

/// Submits the given number of tasks of 1 ms on rank 0.
template <typename With>
void submit_pauses(Context& context, int tasks, const With& with_of) {
  static const std::vector<char> data(100);
  for (int t = 0; t < tasks && is_first(); ++t) context.submit(with_of(t), kPause, in(data), 1000);
}

/// Number of tasks that must still be lent. Each task with says_when_it_leaves() decrements this
/// number when it is lent. Tasks of the function kUntilEnoughHaveLeft keep threads of their rank
/// busy until the number is 0, so that tasks are lent even on a slow machine.
inline std::atomic<std::int64_t> still_to_leave{0};

inline bool enough_have_left() { return still_to_leave <= 0; }

inline void stay_until_enough_have_left() {
  // Only a test that would otherwise hang reaches this time limit, which is below the time-out of
  // the test.
  const double end_s = wall_now_s() + 200;
  while (!enough_have_left() && wall_now_s() < end_s) {
    Context::current().poll();
    std::this_thread::sleep_for(std::chrono::microseconds(20));  // leaves the core to other ranks
  }
}

inline const auto kUntilEnoughHaveLeft =
    function("until enough have left this rank", stay_until_enough_have_left);

inline With says_when_it_leaves() {
  return With{.on_lend = [](std::span<Item>) { --still_to_leave; }};
}

/// Keeps `threads` threads of this rank busy during the next wait until `wanted` tasks that were
/// submitted with says_when_it_leaves() have been lent. Does nothing if there is only one rank.
inline void keep_threads_until_left(Context& context, std::int64_t wanted, unsigned threads = 1) {
  still_to_leave = context.num_ranks() == 1 ? 0 : wanted;
  for (unsigned i = 0; i < threads; ++i)
    context.submit(With{.priority = 1, .pinned = true}, kUntilEnoughHaveLeft);
}

inline void keep_threads_until_one_has_left(Context& context) {
  keep_threads_until_left(context, 1);
}

/// A policy that lends all tasks to the last rank.
Policy all_to_the_last_rank();

std::vector<int> allowed_units(pid_t thread = 0);
void bind_to(const std::vector<int>& units);

/// Makes hwloc see the first two processing units of this rank as a machine of two memory domains.
void pretend_two_domains();

/// From now on, a test fails if a thread calls MPI although MPI's `thread_level` forbids that call.
void watch_calls(int thread_level);

/// Provokes the failure with the name `trouble`, so that a script can observe how the job ends: the
/// last rank is late in a wait ("late") or is killed in a task ("killed"), or a rank expects only
/// half of a payload ("truncated").
void run_into(std::string_view trouble);
/// Tries to create a context before MPI is initialized, another one under MPI_THREAD_SINGLE, and a
/// third one after MPI is finalized. Prints whether all three are refused.
int run_without_mpi(int argc, char** argv);

}  // namespace poise::tasks
