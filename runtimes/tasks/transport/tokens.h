// Where tokens of replicated tasks come from: memory that a node's ranks share.
#pragma once

#include <cstdint>
#include <memory>

#include "runtimes/tasks/pool/token.h"
#include "runtimes/tasks/transport/arena.h"

namespace poise::tasks {

/// Gives out tokens and takes them back. For several threads at once; outlives none of its tokens'
/// memory, but the tokens may outlive it.
class Tokens {
 public:
  explicit Tokens(Arena& arena);
  /// A token that nobody has taken yet. It goes back with its last owner.
  std::shared_ptr<std::uint64_t> make(Ticket ticket);

 private:
  struct Pool;
  std::shared_ptr<Pool> pool_;
};

}  // namespace poise::tasks
