// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/collectives.h"

#include <limits>
#include <numeric>
#include <sched.h>

namespace poise::objects {

namespace {

/// The MPI datatype of a row. With it, counts are numbers of rows instead of bytes, so they fit
/// into MPI's int.
class RowType {
 public:
  explicit RowType(std::size_t size) {
    MPI_Type_contiguous(size, MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
  }
  ~RowType() { MPI_Type_free(&type_); }
  RowType(const RowType&) = delete;
  RowType& operator=(const RowType&) = delete;
  operator MPI_Datatype() const { return type_; }

 private:
  MPI_Datatype type_{};
};

void reduce(MPI_Comm comm, std::span<double> values, MPI_Op op) {
  MPI_Request request{};
  MPI_Iallreduce(MPI_IN_PLACE, values.data(), values.size(), MPI_DOUBLE, op, comm, &request);
  wait_and_yield(request);
}

}  // namespace

void wait_and_yield(MPI_Request& request) {
  for (int is_done = 0;;) {
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    if (is_done != 0) return;
    ::sched_yield();
  }
}

void max_over_ranks(MPI_Comm comm, std::span<double> values) { reduce(comm, values, MPI_MAX); }
void sum_over_ranks(MPI_Comm comm, std::span<double> values) { reduce(comm, values, MPI_SUM); }

namespace collective_bytes {

std::vector<char> gather(MPI_Comm comm, const void* rows, std::size_t count, std::size_t row_bytes,
                         int root) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int own = count;
  std::vector<int> counts(ranks), starts(counts.size());
  MPI_Request request{};
  MPI_Iallgather(&own, 1, MPI_INT, counts.data(), 1, MPI_INT, comm, &request);
  wait_and_yield(request);
  const std::uint64_t total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (total > std::numeric_limits<int>::max())
    fail("objects: the ranks would gather {} rows in total, but an MPI count can be at most {}",
         total, std::numeric_limits<int>::max());
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
  const RowType row(row_bytes);
  std::vector<char> all;
  if (root < 0 || rank == root) all.resize(total * row_bytes);
  if (root < 0)
    MPI_Iallgatherv(rows, own, row, all.data(), counts.data(), starts.data(), row, comm, &request);
  else
    MPI_Igatherv(rows, own, row, all.data(), counts.data(), starts.data(), row, root, comm,
                 &request);
  wait_and_yield(request);
  return all;
}

void broadcast(MPI_Comm comm, void* rows, std::size_t count, std::size_t row_bytes, int root) {
  if (count > std::numeric_limits<int>::max())
    fail("objects: a broadcast would have {} rows, but an MPI count can be at most {}", count,
         std::numeric_limits<int>::max());
  const RowType row(row_bytes);
  MPI_Request request{};
  MPI_Ibcast(rows, count, row, root, comm, &request);
  wait_and_yield(request);
}

}  // namespace collective_bytes

std::string broadcast_text(MPI_Comm comm, std::string text, int root) {
  std::vector<char> bytes(text.begin(), text.end());
  broadcast_rows(comm, bytes, root);
  return {bytes.begin(), bytes.end()};
}

}  // namespace poise::objects
