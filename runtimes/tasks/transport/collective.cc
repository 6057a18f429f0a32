// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/transport/collective.h"

namespace poise::tasks {

void reduce(MPI_Comm communicator, int& value, MPI_Op op) {
  complete([&](MPI_Request* request) {
    MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_INT, op, communicator, request);
  });
}

void reduce(MPI_Comm communicator, std::uint64_t* values, int count, MPI_Op op) {
  complete([&](MPI_Request* request) {
    MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_UINT64_T, op, communicator, request);
  });
}

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace poise::tasks
