// SPDX-License-Identifier: BSD-3-Clause
// Counts the heap memory of a process and the bytes that it sends and receives. A program that
// includes this file replaces operator new and, through MPI's profiling interface, MPI functions.
#pragma once

#include <cstdint>
#include <mpi.h>

#include "tests/support/heap.h"

namespace counting {

inline std::uint64_t traffic_bytes = 0;  // sent and received

inline void restart() {
  poise::heap::peak_bytes = poise::heap::bytes.load();
  traffic_bytes = 0;
}

inline std::uint64_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

inline int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  return ranks;
}

inline void add_all(const int* counts, MPI_Datatype type, MPI_Comm comm) {
  for (int r = 0; r < ranks_of(comm); ++r) traffic_bytes += bytes_of(counts[r], type);
}

}  // namespace counting

extern "C" {

int MPI_Isend(const void* bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  counting::traffic_bytes += counting::bytes_of(count, type);
  return PMPI_Isend(bytes, count, type, to, tag, comm, request);
}
int MPI_Issend(const void* bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  counting::traffic_bytes += counting::bytes_of(count, type);
  return PMPI_Issend(bytes, count, type, to, tag, comm, request);
}
int MPI_Mrecv(void* bytes, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  counting::traffic_bytes += counting::bytes_of(count, type);
  return PMPI_Mrecv(bytes, count, type, message, status);
}
int MPI_Imrecv(void* bytes, int count, MPI_Datatype type, MPI_Message* message,
               MPI_Request* request) {
  counting::traffic_bytes += counting::bytes_of(count, type);
  return PMPI_Imrecv(bytes, count, type, message, request);
}
int MPI_Ibcast(void* bytes, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request* request) {
  counting::traffic_bytes += counting::bytes_of(count, type);
  return PMPI_Ibcast(bytes, count, type, root, comm, request);
}
int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request* request) {
  counting::traffic_bytes += 2 * counting::bytes_of(count, type);
  return PMPI_Iallreduce(from, to, count, type, op, comm, request);
}
int MPI_Iallgather(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                   MPI_Datatype to_type, MPI_Comm comm, MPI_Request* request) {
  counting::traffic_bytes += counting::bytes_of(from_count, from_type) +
                             counting::bytes_of(to_count, to_type) * counting::ranks_of(comm);
  return PMPI_Iallgather(from, from_count, from_type, to, to_count, to_type, comm, request);
}
int MPI_Iallgatherv(const void* from, int from_count, MPI_Datatype from_type, void* to,
                    const int* to_counts, const int* to_starts, MPI_Datatype to_type, MPI_Comm comm,
                    MPI_Request* request) {
  counting::traffic_bytes += counting::bytes_of(from_count, from_type);
  counting::add_all(to_counts, to_type, comm);
  return PMPI_Iallgatherv(from, from_count, from_type, to, to_counts, to_starts, to_type, comm,
                          request);
}
int MPI_Igatherv(const void* from, int from_count, MPI_Datatype from_type, void* to,
                 const int* to_counts, const int* to_starts, MPI_Datatype to_type, int root,
                 MPI_Comm comm, MPI_Request* request) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  counting::traffic_bytes += counting::bytes_of(from_count, from_type);
  if (rank == root) counting::add_all(to_counts, to_type, comm);
  return PMPI_Igatherv(from, from_count, from_type, to, to_counts, to_starts, to_type, root, comm,
                       request);
}

}  // extern "C"
