// Who may run a replicated task: the first to take its token. In memory that a node's ranks share,
// so that none has to wait for an answer of a busy one.
#pragma once

#include <atomic>
#include <cstdint>

namespace poise::tasks {

/// A number that no two tasks of a rank share; a token that was used before is of no use to those
/// who know its old number.
using Ticket = std::uint64_t;

/// Of a copy on the token's own rank or on one that shares its memory.
inline bool take_token(std::uint64_t* token, Ticket ticket) {
  std::uint64_t free = 2 * ticket;
  return std::atomic_ref(*token).compare_exchange_strong(free, 2 * ticket + 1);
}

}  // namespace poise::tasks
