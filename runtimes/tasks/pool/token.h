// SPDX-License-Identifier: BSD-3-Clause
// The token of a replicated task: the rank that takes it first runs the task. It is in memory that
// the ranks of a node share, so that no rank has to wait for the answer of a busy rank.
#pragma once

#include <atomic>
#include <cstdint>

namespace poise::tasks {

/// Identifies a replicated task of a rank. The memory of tokens is reused, so a token can be taken
/// only with the ticket of the task for which it was made.
using Ticket = std::uint64_t;

/// Takes the token, which this rank must be able to access. Returns false if another rank was
/// first.
inline bool take_token(std::uint64_t* token, Ticket ticket) {
  std::uint64_t free = 2 * ticket;
  return std::atomic_ref(*token).compare_exchange_strong(free, 2 * ticket + 1);
}

}  // namespace poise::tasks
