// What tests of several ranks ask of all of them.
#pragma once

#include <cstdint>
#include <mpi.h>

#include "runtimes/tasks/collective.h"

namespace poise::tasks {

inline int rank_here() {
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

/// From now on hwloc takes the first two processing units that this rank may use for a machine of
/// two memory domains.
void pretend_two_domains();

}  // namespace poise::tasks
