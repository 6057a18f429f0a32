// SPDX-License-Identifier: BSD-3-Clause
// Collective operations on rows of plain data and on texts.
//
// All of them yield the core while they wait. MPI's blocking calls spin instead, which may cost a
// time slice per message if ranks outnumber cores.
#pragma once

#include <cstring>
#include <mpi.h>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "poise/base/error.h"

namespace poise::objects {

/// Passed instead of a root if every rank is to get the result.
inline constexpr int kEveryRank = -1;

namespace collective_bytes {

/// Gathers rows of `row_bytes` bytes, `count` of them on this rank, at the root or at every rank.
std::vector<char> gather(MPI_Comm comm, const void* rows, std::size_t count, std::size_t row_bytes,
                         int root);

/// Broadcasts `count` rows of `row_bytes` bytes.
void broadcast(MPI_Comm comm, void* rows, std::size_t count, std::size_t row_bytes, int root);

}  // namespace collective_bytes

/// Waits for a request and yields the core while it waits.
void wait_and_yield(MPI_Request& request);

/// Replaces each values[i] by the maximum, or by the sum, of values[i] over all ranks. Collective.
void max_over_ranks(MPI_Comm comm, std::span<double> values);
void sum_over_ranks(MPI_Comm comm, std::span<double> values);

/// Gathers the rows of all ranks at the root, in order of rank; returns no rows on the other ranks.
/// Collective.
template <typename Row>
std::vector<Row> gather_rows(MPI_Comm comm, const std::vector<Row>& rows, int root = 0) {
  static_assert(std::is_trivially_copyable_v<Row>);
  const std::vector<char> bytes =
      collective_bytes::gather(comm, rows.data(), rows.size(), sizeof(Row), root);
  std::vector<Row> all(bytes.size() / sizeof(Row));
  if (!all.empty()) std::memcpy(static_cast<void*>(all.data()), bytes.data(), bytes.size());
  return all;
}

/// Returns the rows of all ranks, in order of rank, at every rank. Collective.
template <typename Row>
std::vector<Row> allgather_rows(MPI_Comm comm, const std::vector<Row>& rows) {
  return gather_rows(comm, rows, kEveryRank);
}

/// Broadcasts the rows of the root: they replace the rows of all other ranks. Collective.
template <typename Row>
void broadcast_rows(MPI_Comm comm, std::vector<Row>& rows, int root = 0) {
  static_assert(std::is_trivially_copyable_v<Row>);
  std::uint64_t count = rows.size();
  collective_bytes::broadcast(comm, &count, 1, sizeof count, root);
  rows.resize(count);
  collective_bytes::broadcast(comm, rows.data(), count, sizeof(Row), root);
}

/// Returns the root's text on every rank. Collective.
std::string broadcast_text(MPI_Comm comm, std::string text, int root = 0);

}  // namespace poise::objects
