// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/transport/tokens.h"

#include <atomic>
#include <mutex>
#include <vector>

#include "poise/online/lending_tuning.h"

namespace poise::tasks {

struct Tokens::Pool {
  explicit Pool(Arena& where) : arena(where) {}
  ~Pool() {
    for (std::uint64_t* piece : pieces)
      arena.deallocate(piece, lending_tuning::kMaxTasksPerMessage * sizeof(std::uint64_t));
  }

  std::uint64_t* take() {
    const std::lock_guard lock(mutex);
    if (unused.empty()) {
      auto* piece = static_cast<std::uint64_t*>(
          arena.allocate(lending_tuning::kMaxTasksPerMessage * sizeof(std::uint64_t)));
      pieces.push_back(piece);
      for (std::size_t i = 0; i < lending_tuning::kMaxTasksPerMessage; ++i)
        unused.push_back(piece + i);
    }
    std::uint64_t* const token = unused.back();
    unused.pop_back();
    return token;
  }

  Arena& arena;
  std::mutex mutex;  // guards the members below
  std::vector<std::uint64_t*> pieces, unused;
};

Tokens::Tokens(Arena& arena) : pool_(std::make_shared<Pool>(arena)) {}

std::shared_ptr<std::uint64_t> Tokens::make(Ticket ticket) {
  std::uint64_t* const token = pool_->take();
  std::atomic_ref(*token).store(2 * ticket);
  return {token, [pool = pool_](std::uint64_t* recycled) {
            const std::lock_guard lock(pool->mutex);
            pool->unused.push_back(recycled);
          }};
}

}  // namespace poise::tasks
