// SPDX-License-Identifier: BSD-3-Clause
// One value per rank, in memory shared by all ranks of a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mpi.h>
#include <new>
#include <optional>
#include <vector>

#include "runtimes/tasks/transport/arena.h"
#include "runtimes/tasks/transport/bytes.h"
#include "runtimes/tasks/transport/collective.h"

namespace poise::tasks {

/// Each value is alone on its cache lines and on the adjacent ones, which processors prefetch.
/// Ranks that share no memory with others see only their own value. Several processes change a
/// value, so the members of its type T must be atomics or otherwise safe to share.
template <typename T>
class PerRank {
 public:
  /// Collective.
  PerRank(MPI_Comm communicator, Arena& arena) : arena_(arena) {
    void* const memory = arena.try_allocate(kBytes);
    if (!memory) alone_ = std::make_unique<T>();
    own_ = memory ? new (memory) T : alone_.get();
    const auto spot = memory ? arena.find(memory, kBytes) : std::nullopt;
    const auto offsets = all_of(communicator, spot ? spot->offset : kNone);
    int self = 0;
    MPI_Comm_rank(communicator, &self);
    others_.resize(offsets.size());
    visible_to_.resize(offsets.size());
    for (std::uint32_t rank = 0; rank < offsets.size(); ++rank) {
      if (static_cast<int>(rank) == self || !arena.shared_with(rank)) continue;
      visible_to_[rank] = !alone_;
      if (offsets[rank] != kNone) others_[rank] = static_cast<T*>(arena.at({rank, offsets[rank]}));
    }
  }
  ~PerRank() {
    if (alone_) return;
    own_->~T();
    arena_.deallocate(own_, kBytes, kAlignment);
  }
  PerRank(const PerRank&) = delete;
  PerRank& operator=(const PerRank&) = delete;

  T& own() { return *own_; }
  const T& own() const { return *own_; }
  /// Returns the value of another rank, or null for this rank and for ranks that share no memory
  /// with this rank.
  T* of(std::uint32_t rank) const { return others_[rank]; }
  /// True if `rank`, which is not this one, can access this rank's value.
  bool is_visible_to(std::uint32_t rank) const { return visible_to_[rank]; }

 private:
  static constexpr std::size_t kBytes = 4 * kAlignment;
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  static_assert(sizeof(T) < kBytes);

  Arena& arena_;
  T* own_ = nullptr;
  std::unique_ptr<T> alone_;  // this rank's value if no memory is shared
  std::vector<T*> others_;
  std::vector<bool> visible_to_;
};

}  // namespace poise::tasks
