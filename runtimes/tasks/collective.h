// What ranks do together at the start and the end of a context, leaving the core to others while
// they wait: MPI libraries spin in their collective operations, and ranks may outnumber cores.
#pragma once

#include <chrono>
#include <cstdint>
#include <mpi.h>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "runtimes/tasks/clock.h"

namespace poise::tasks {

/// How somebody who finds nothing to do waits: spinning first, then making room for longer.
class Backoff {
 public:
  void reset() { since_s_ = -1; }
  void pause() {
    const double now_s = clock_s();
    if (since_s_ < 0) since_s_ = now_s;
    if (now_s - since_s_ < kSpin_s) return;
    if (now_s - since_s_ < kYield_s)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(kNap);
  }

 private:
  static constexpr double kSpin_s = 50e-6, kYield_s = 1e-3;
  static constexpr std::chrono::microseconds kNap{50};
  double since_s_ = -1;
};

/// Starts an operation that gives a request, and waits for its end.
template <typename Start>
void complete(const Start& start) {
  MPI_Request request = MPI_REQUEST_NULL;
  start(&request);
  Backoff backoff;
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) backoff.pause();
  }
}

/// Over all ranks, element by element.
void reduce(MPI_Comm communicator, int& value, MPI_Op op);
void reduce(MPI_Comm communicator, std::uint64_t* values, int count, MPI_Op op);

/// What each rank gives, by rank.
template <typename T>
std::vector<T> all_of(MPI_Comm communicator, const T& own) {
  static_assert(std::is_trivially_copyable_v<T>);
  int size = 1;
  MPI_Comm_size(communicator, &size);
  std::vector<T> all(static_cast<std::size_t>(size));
  complete([&](MPI_Request* request) {
    MPI_Iallgather(&own, sizeof(T), MPI_BYTE, all.data(), sizeof(T), MPI_BYTE, communicator,
                   request);
  });
  return all;
}

/// FNV-1a.
std::uint64_t hash_of(const std::string& text);

}  // namespace poise::tasks
