// SPDX-License-Identifier: BSD-3-Clause
// Checks through MPI's profiling interface which threads call MPI. Without this check the tests
// would miss most calls from wrong threads, because MPI libraries tolerate them.
#include <atomic>
#include <gtest/gtest.h>
#include <mpi.h>
#include <thread>

#include "tests/tasks/ranks.h"

namespace {

const std::thread::id main_thread = std::this_thread::get_id();
std::atomic<int> num_inside{0}, num_by_others{0}, num_at_once{0};

// The memory order is relaxed, so that the counter adds no ordering that would hide a race from the
// thread sanitizer.
void add(std::atomic<int>& count, int number) {
  count.fetch_add(number, std::memory_order_relaxed);
}

class Call {
 public:
  Call() {
    if (num_inside.fetch_add(1, std::memory_order_relaxed) > 0) add(num_at_once, 1);
    if (std::this_thread::get_id() == main_thread) return;
    add(num_by_others, 1);
    if (stays_longer) std::this_thread::yield();
  }
  ~Call() { add(num_inside, -1); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Waits a little, so that a concurrent call to MPI is noticed.
  static inline bool stays_longer = false;
};

}  // namespace

extern "C" {

int MPI_Isend(const void* bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const Call call;
  return PMPI_Isend(bytes, count, type, to, tag, comm, request);
}
int MPI_Send(const void* bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  const Call call;
  return PMPI_Send(bytes, count, type, to, tag, comm);
}
int MPI_Irecv(void* bytes, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const Call call;
  return PMPI_Irecv(bytes, count, type, from, tag, comm, request);
}
int MPI_Recv(void* bytes, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status* status) {
  const Call call;
  return PMPI_Recv(bytes, count, type, from, tag, comm, status);
}
int MPI_Improbe(int from, int tag, MPI_Comm comm, int* is_there, MPI_Message* message,
                MPI_Status* status) {
  const Call call;
  return PMPI_Improbe(from, tag, comm, is_there, message, status);
}
int MPI_Imrecv(void* bytes, int count, MPI_Datatype type, MPI_Message* message,
               MPI_Request* request) {
  const Call call;
  return PMPI_Imrecv(bytes, count, type, message, request);
}
int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  const Call call;
  return PMPI_Get_count(status, type, count);
}
int MPI_Test(MPI_Request* request, int* is_done, MPI_Status* status) {
  const Call call;
  return PMPI_Test(request, is_done, status);
}
int MPI_Testsome(int count, MPI_Request requests[], int* num_done, int indices[],
                 MPI_Status statuses[]) {
  const Call call;
  return PMPI_Testsome(count, requests, num_done, indices, statuses);
}
int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  const Call call;
  return PMPI_Ibarrier(comm, request);
}
int MPI_Bcast(void* bytes, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const Call call;
  return PMPI_Bcast(bytes, count, type, root, comm);
}
int MPI_Ibcast(void* bytes, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request* request) {
  const Call call;
  return PMPI_Ibcast(bytes, count, type, root, comm, request);
}
int MPI_Igather(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                MPI_Datatype to_type, int root, MPI_Comm comm, MPI_Request* request) {
  const Call call;
  return PMPI_Igather(from, from_count, from_type, to, to_count, to_type, root, comm, request);
}
int MPI_Iallgather(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                   MPI_Datatype to_type, MPI_Comm comm, MPI_Request* request) {
  const Call call;
  return PMPI_Iallgather(from, from_count, from_type, to, to_count, to_type, comm, request);
}
int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request* request) {
  const Call call;
  return PMPI_Iallreduce(from, to, count, type, op, comm, request);
}
int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  const Call call;
  return PMPI_Comm_rank(comm, rank);
}
int MPI_Comm_size(MPI_Comm comm, int* size) {
  const Call call;
  return PMPI_Comm_size(comm, size);
}
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* copy, MPI_Request* request) {
  const Call call;
  return PMPI_Comm_idup(comm, copy, request);
}
int MPI_Comm_free(MPI_Comm* comm) {
  const Call call;
  return PMPI_Comm_free(comm);
}

}  // extern "C"

namespace poise::tasks {
namespace {

class Watch : public testing::EmptyTestEventListener {
 public:
  explicit Watch(int thread_level) : level_(thread_level) {
    Call::stays_longer = level_ == MPI_THREAD_SERIALIZED;
  }

 private:
  void OnTestStart(const testing::TestInfo&) override { num_by_others = num_at_once = 0; }
  void OnTestEnd(const testing::TestInfo&) override {
    if (level_ < MPI_THREAD_SERIALIZED) {
      EXPECT_EQ(num_by_others, 0) << "threads other than the main one have called MPI";
    }
    if (level_ < MPI_THREAD_MULTIPLE) {
      EXPECT_EQ(num_at_once, 0) << "threads were inside MPI at once";
    }
  }

  int level_;
};

}  // namespace

void watch_calls(int thread_level) {
  testing::UnitTest::GetInstance()->listeners().Append(new Watch(thread_level));
}

}  // namespace poise::tasks
