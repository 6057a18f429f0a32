// SPDX-License-Identifier: BSD-3-Clause
// Counts the MPI calls of a step through MPI's profiling interface, to test the traffic of objects.
#include <gtest/gtest.h>
#include <vector>

#include "runtimes/objects/collection.h"

namespace {

int num_sends = 0, num_barriers = 0, num_other_collectives = 0;

}  // namespace

extern "C" {

int MPI_Isend(const void* bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  ++num_sends;
  return PMPI_Isend(bytes, count, type, to, tag, comm, request);
}
int MPI_Issend(const void* bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  ++num_sends;
  return PMPI_Issend(bytes, count, type, to, tag, comm, request);
}
int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  ++num_barriers;
  return PMPI_Ibarrier(comm, request);
}
int MPI_Alltoall(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                 MPI_Datatype to_type, MPI_Comm comm) {
  ++num_other_collectives;
  return PMPI_Alltoall(from, from_count, from_type, to, to_count, to_type, comm);
}
int MPI_Ialltoall(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                  MPI_Datatype to_type, MPI_Comm comm, MPI_Request* request) {
  ++num_other_collectives;
  return PMPI_Ialltoall(from, from_count, from_type, to, to_count, to_type, comm, request);
}
int MPI_Alltoallv(const void* from, const int* from_counts, const int* from_starts,
                  MPI_Datatype from_type, void* to, const int* to_counts, const int* to_starts,
                  MPI_Datatype to_type, MPI_Comm comm) {
  ++num_other_collectives;
  return PMPI_Alltoallv(from, from_counts, from_starts, from_type, to, to_counts, to_starts,
                        to_type, comm);
}
int MPI_Iallgather(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                   MPI_Datatype to_type, MPI_Comm comm, MPI_Request* request) {
  ++num_other_collectives;
  return PMPI_Iallgather(from, from_count, from_type, to, to_count, to_type, comm, request);
}
int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request* request) {
  ++num_other_collectives;
  return PMPI_Iallreduce(from, to, count, type, op, comm, request);
}

}  // extern "C"

namespace poise::objects {
namespace {

constexpr ObjectId kObjects = 24;
constexpr std::uint64_t kSteps = 7;

/// Sends two messages to the next object, so that two ranks exchange messages that can be combined.
struct Link {
  ObjectId id = 0;
  void step(const Inbox& inbox, Outbox& outbox) {
    num_received += inbox.size();
    outbox.send((id + 1) % kObjects, 1.0);
    outbox.send((id + 1) % kObjects, 2.0);
  }
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(id);
  }
  static std::size_t num_received;
};

std::size_t Link::num_received = 0;

TEST(Traffic, each_step_takes_one_message_per_pair_of_communicating_ranks_and_one_barrier) {
  Collection<Link> objects(MPI_COMM_WORLD, kObjects, [](ObjectId id) { return Link{id}; });
  num_sends = num_barriers = num_other_collectives = 0;
  objects.run(kSteps);
  const bool is_alone = objects.num_ranks() == 1;
  EXPECT_EQ(num_sends, is_alone ? 0 : kSteps);  // one per step, to the next rank
  EXPECT_EQ(num_barriers, is_alone ? 0 : kSteps);
  EXPECT_EQ(num_other_collectives, 0);
  objects.step();
  std::size_t num_own = 0;
  objects.for_each([&](ObjectId, const Link&) { ++num_own; });
  EXPECT_EQ(Link::num_received, kSteps * 2 * num_own);
}

}  // namespace
}  // namespace poise::objects
