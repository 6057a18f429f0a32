// SPDX-License-Identifier: BSD-3-Clause
// Collective operations that yield the core while they wait. Those of MPI libraries spin, which is
// slow where there are more ranks than cores.
#pragma once

#include <cstdint>
#include <mpi.h>
#include <string>
#include <type_traits>
#include <vector>

#include "runtimes/tasks/transport/backoff.h"

namespace poise::tasks {

/// Starts a nonblocking operation and waits until its request is complete.
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

/// Reduces `value` over all ranks, element by element and in place.
void reduce(MPI_Comm communicator, int& value, MPI_Op op);
void reduce(MPI_Comm communicator, std::uint64_t* values, int count, MPI_Op op);

/// Gathers one value per rank on all ranks.
template <typename T>
std::vector<T> all_of(MPI_Comm communicator, const T& own) {
  static_assert(std::is_trivially_copyable_v<T>);
  int size = 1;
  MPI_Comm_size(communicator, &size);
  std::vector<T> all(size);
  complete([&](MPI_Request* request) {
    MPI_Iallgather(&own, sizeof(T), MPI_BYTE, all.data(), sizeof(T), MPI_BYTE, communicator,
                   request);
  });
  return all;
}

/// The FNV-1a hash.
std::uint64_t hash_of(const std::string& text);

}  // namespace poise::tasks
