// SPDX-License-Identifier: BSD-3-Clause
// Memory that the ranks of one node share: each rank allocates from its own part, and tasks on any
// rank read and write it in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <mpi.h>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "runtimes/tasks/transport/bytes.h"

namespace poise::tasks {

/// Thread-safe. The part of each rank is an anonymous file (memfd_create). Only pages that were
/// written occupy memory, and the last process that unmaps the file frees it.
class Arena final : public std::pmr::memory_resource {
 public:
  /// Collective. `node_of` is Locality::nodes. `part_bytes` is the address space per rank; with 0
  /// nothing is shared. Where sharing is impossible (another node, another container, too little
  /// address space), the arena allocates ordinary memory instead.
  Arena(MPI_Comm communicator, std::span<const std::uint32_t> node_of, std::size_t part_bytes);
  ~Arena() override;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// True if this rank and another rank, `rank`, share their parts.
  bool shared_with(std::uint32_t rank) const { return part_of_[rank] >= 0 && base_ != nullptr; }

  using Spot = poise::tasks::Spot;
  /// Returns the location of these bytes, or nothing if they are not in the shared memory.
  std::optional<Spot> find(const void* data, std::size_t bytes) const;
  void* at(const Spot& spot) const;

  /// Allocates from this rank's part of the shared memory; deallocate() frees it. Returns null if
  /// this part has no room or does not exist.
  void* try_allocate(std::size_t bytes);
  std::size_t allocated_bytes() const;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
  bool in_own_part(const void* data) const;

  std::vector<int> part_of_;          // index of each rank's part; -1: the rank is on another node
  std::vector<std::uint32_t> ranks_;  // by part
  std::size_t part_bytes_ = 0;
  // Address of the first rank's part of the shared memory; the parts of the other ranks of this
  // node follow it in the address space. Null if the ranks share no memory.
  std::byte* base_ = nullptr;
  std::byte* own_ = nullptr;
  int file_ = -1;
  mutable std::mutex mutex_;  // guards the members below
  // Sizes of the free pieces of this rank's part, by their offsets in the part. Adjacent free
  // pieces are joined.
  std::map<std::size_t, std::size_t> free_;
  std::map<std::size_t, std::size_t> in_use_;  // sizes of allocated pieces by offset
  std::size_t allocated_ = 0;
};

}  // namespace poise::tasks
