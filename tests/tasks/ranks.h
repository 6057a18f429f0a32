// What tests of several ranks ask of all of them, and the program they are in of some.
#pragma once

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

inline std::uint64_t sum_over_ranks(std::uint64_t value) {
  reduce(MPI_COMM_WORLD, &value, 1, MPI_SUM);
  return value;
}

/// Nobody goes on before all are here.
inline void meet() {
  complete([](MPI_Request* request) { MPI_Ibarrier(MPI_COMM_WORLD, request); });
}

inline bool may_any_thread_call_mpi() {
  int level = 0;
  MPI_Query_thread(&level);
  return level >= MPI_THREAD_SERIALIZED;
}

/// Settings with the helper, where it may be.
inline std::string more_threads() {
  return may_any_thread_call_mpi() ? "helper=on,helper_us=10" : "helper=off";
}

/// So that lending does not hang on luck: tasks that say when they leave their rank, and others
/// that keep its threads until one has.
inline std::atomic<bool> one_has_left{true};

inline void stay_until_one_has_left() {
  const auto begin = std::chrono::steady_clock::now();
  while (!one_has_left && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)) {
    Context::current().poll();
    std::this_thread::sleep_for(std::chrono::microseconds(20));  // others need the core
  }
}

inline const auto kUntilOneHasLeft =
    function("until one has left this rank", stay_until_one_has_left);

inline With says_when_it_leaves() {
  return With{.on_lend = [](std::span<Item>) { one_has_left = true; }};
}

/// In the next wait; a rank that is alone keeps none.
inline void keep_threads_until_one_has_left(Context& context, unsigned threads = 1) {
  one_has_left = context.num_ranks() == 1;
  for (unsigned i = 0; i < threads; ++i)
    context.submit(With{.priority = 1, .pinned = true}, kUntilOneHasLeft);
}

/// A policy by which the last rank gets all that others have.
Policy all_to_the_last_rank();

std::vector<int> allowed_units(pid_t thread = 0);
void bind_to(const std::vector<int>& units);

/// From now on hwloc takes the first two processing units that this rank may use for a machine of
/// two memory domains.
void pretend_two_domains();

/// From now on a test fails in which a thread calls MPI that may not, with this level of threads.
void watch_calls(int thread_level);

/// What is checked from outside: a rank that comes late to a wait or is killed in a task, a message
/// of which only half is expected; contexts where there is no MPI.
void run_into(std::string_view trouble);
int run_without_mpi(int argc, char** argv);

}  // namespace poise::tasks
