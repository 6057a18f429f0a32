// SPDX-License-Identifier: BSD-3-Clause
// Allocates the tokens of replicated tasks in memory that the ranks of a node share.
#pragma once

#include <cstdint>
#include <memory>

#include "runtimes/tasks/pool/token.h"
#include "runtimes/tasks/transport/arena.h"

namespace poise::tasks {

/// Makes tokens in the memory of an arena. Thread-safe. A token may outlive this object, but not
/// the arena.
class Tokens {
 public:
  explicit Tokens(Arena& arena);
  /// Returns an unused token, which is prepared for the task with this ticket. When the last copy
  /// of the returned pointer is destroyed, the token is unused again.
  std::shared_ptr<std::uint64_t> make(Ticket ticket);

 private:
  struct Pool;
  std::shared_ptr<Pool> pool_;
};

}  // namespace poise::tasks
