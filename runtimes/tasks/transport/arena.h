// Memory that the ranks of one node all see: each gives out pieces of its own part, and tasks of
// any of them read and write these in place.
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

namespace poise::tasks {

/// For several threads at once. Each part is a file without a name (memfd_create), of which the
/// system provides only those pages that were written; it ends with its last process.
class Arena final : public std::pmr::memory_resource {
 public:
  /// Collective. `node_of`: of each rank, see Locality. `part_bytes`: of address space for each
  /// rank's part; 0: nothing is shared. Where the system allows no sharing (other nodes, other
  /// containers, too little address space), the arena has no part and gives out ordinary memory.
  Arena(MPI_Comm communicator, std::span<const std::uint32_t> node_of, std::size_t part_bytes);
  ~Arena() override;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Whether this rank and `rank`, another one, see each other's parts.
  bool shared_with(std::uint32_t rank) const { return part_of_[rank] >= 0 && base_ != nullptr; }

  /// Where bytes lie, for ranks that share: their addresses differ.
  struct Spot {
    std::uint32_t rank = 0;
    std::uint64_t offset = 0;
  };
  /// Nothing for bytes outside of all parts.
  std::optional<Spot> find(const void* data, std::size_t bytes) const;
  void* at(const Spot& spot) const;

  /// Bytes of this rank's part; null when there is no room, or no part. To be given back by
  /// deallocate.
  void* try_allocate(std::size_t bytes);
  std::size_t allocated_bytes() const;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
  bool in_own_part(const void* data) const;

  std::vector<int> part_of_;          // of each rank of the communicator; -1: on another node
  std::vector<std::uint32_t> ranks_;  // of each part
  std::size_t part_bytes_ = 0;
  std::byte* base_ = nullptr;  // of the first part, the others following; null: nothing is shared
  std::byte* own_ = nullptr;
  int file_ = -1;
  mutable std::mutex mutex_;                   // of the following
  std::map<std::size_t, std::size_t> free_;    // by offset: bytes; neighbours are joined
  std::map<std::size_t, std::size_t> in_use_;  // by offset
  std::size_t allocated_ = 0;
};

}  // namespace poise::tasks
