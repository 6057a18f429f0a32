#include "runtimes/tasks/bells.h"

#include <new>
#include <optional>

#include "runtimes/tasks/bytes.h"
#include "runtimes/tasks/collective.h"

namespace poise::tasks {

namespace {
constexpr std::size_t kBytes =
    2 * kAlignment;  // its own cache line, and the next, which processors fetch with it
constexpr std::uint64_t kNone = ~std::uint64_t{0};
}  // namespace

Bells::Bells(MPI_Comm communicator, Arena& arena) : arena_(arena) {
  if (void* const memory = arena.try_allocate(kBytes)) own_ = new (memory) std::uint32_t(0);
  const auto spot = own_ ? arena.find(own_, kBytes) : std::nullopt;
  const auto offsets = all_of(communicator, spot ? spot->offset : kNone);
  int self = 0;
  MPI_Comm_rank(communicator, &self);
  of_rank_.resize(offsets.size());
  can_ring_.resize(offsets.size());
  ring_for_all_ = own_ != nullptr;
  for (std::uint32_t rank = 0; rank < offsets.size(); ++rank) {
    if (static_cast<int>(rank) == self) continue;
    ring_for_all_ &= arena.shared_with(rank);
    can_ring_[rank] = own_ && arena.shared_with(rank);
    if (offsets[rank] == kNone || !arena.shared_with(rank)) continue;
    of_rank_[rank] = static_cast<std::uint32_t*>(arena.at({rank, offsets[rank]}));
  }
}

Bells::~Bells() {
  if (own_) arena_.deallocate(own_, kBytes, kAlignment);
}

}  // namespace poise::tasks
