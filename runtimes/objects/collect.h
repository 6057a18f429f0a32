// Rows of plain data from all ranks at one or at every rank.
#pragma once

#include <cstring>
#include <mpi.h>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "poise/base/error.h"

namespace poise::objects {

namespace collected {

/// Gathers bytes in units of `size`; root < 0: at every rank.
std::vector<char> gather(MPI_Comm comm, const void* rows, std::size_t count, std::size_t size,
                         int root);

/// Broadcasts bytes in units of `size`.
void spread(MPI_Comm comm, void* rows, std::size_t count, std::size_t size, int root);

}  // namespace collected

/// Waits for a request without keeping the core from those who must act first: where ranks
/// outnumber cores, MPI's own waiting may take a time slice per message.
void wait_politely(MPI_Request& request);

/// Each entry's largest, or sum, over all ranks, everywhere. Collective.
void to_largest(MPI_Comm comm, std::span<double> values);
void to_sum(MPI_Comm comm, std::span<double> values);

/// The rows of all ranks in their order at the root, nothing elsewhere. Collective.
template <typename Row>
std::vector<Row> to_root(MPI_Comm comm, const std::vector<Row>& rows, int root = 0);

/// The same at every rank.
template <typename Row>
std::vector<Row> to_all(MPI_Comm comm, const std::vector<Row>& rows) {
  return to_root(comm, rows, -1);
}

template <typename Row>
std::vector<Row> to_root(MPI_Comm comm, const std::vector<Row>& rows, int root) {
  static_assert(std::is_trivially_copyable_v<Row>);
  const std::vector<char> bytes =
      collected::gather(comm, rows.data(), rows.size(), sizeof(Row), root);
  std::vector<Row> all(bytes.size() / sizeof(Row));
  if (!all.empty()) std::memcpy(static_cast<void*>(all.data()), bytes.data(), bytes.size());
  return all;
}

/// The root's rows at every rank. Collective.
template <typename Row>
void from_root(MPI_Comm comm, std::vector<Row>& rows, int root = 0) {
  static_assert(std::is_trivially_copyable_v<Row>);
  std::uint64_t count = rows.size();
  collected::spread(comm, &count, 1, sizeof count, root);
  rows.resize(count);
  collected::spread(comm, rows.data(), count, sizeof(Row), root);
}

/// The root's text everywhere. Collective.
std::string broadcast(MPI_Comm comm, std::string text, int root = 0);

}  // namespace poise::objects
