// The token of a replicated task: the first rank to take it runs the task. It is in memory that the
// ranks of a node share, so that none has to wait for the answer of a busy one.
#pragma once

#include <atomic>
#include <cstdint>

namespace poise::tasks {

/// A number that no two tasks of a rank share. Tokens are reused, so taking one needs the
/// ticket that it was made for.
using Ticket = std::uint64_t;

/// Takes the token, which must be in memory of this rank; false if another rank was first.
inline bool take_token(std::uint64_t* token, Ticket ticket) {
  std::uint64_t free = 2 * ticket;
  return std::atomic_ref(*token).compare_exchange_strong(free, 2 * ticket + 1);
}

}  // namespace poise::tasks
