#include "runtimes/tasks/bells.h"

#include <new>
#include <optional>

#include "runtimes/tasks/bytes.h"
#include "runtimes/tasks/collective.h"

namespace poise::tasks {

namespace {
// Cache lines of its own, and the next, which processors fetch with them.
constexpr std::size_t kBytes = 4 * kAlignment;
constexpr std::uint64_t kNone = ~std::uint64_t{0};
}  // namespace

Bells::Bells(MPI_Comm communicator, Arena& arena) : arena_(arena) {
  static_assert(sizeof(Bell) < kBytes);
  void* const memory = arena.try_allocate(kBytes);
  if (!memory) silent_ = std::make_unique<Bell>();
  own_ = memory ? new (memory) Bell : silent_.get();
  const auto spot = memory ? arena.find(memory, kBytes) : std::nullopt;
  const auto offsets = all_of(communicator, spot ? spot->offset : kNone);
  int self = 0;
  MPI_Comm_rank(communicator, &self);
  of_rank_.resize(offsets.size());
  can_ring_.resize(offsets.size());
  ring_for_all_ = !silent_;
  for (std::uint32_t rank = 0; rank < offsets.size(); ++rank) {
    if (static_cast<int>(rank) == self) continue;
    ring_for_all_ &= arena.shared_with(rank);
    can_ring_[rank] = !silent_ && arena.shared_with(rank);
    if (offsets[rank] == kNone || !arena.shared_with(rank)) continue;
    of_rank_[rank] = static_cast<Bell*>(arena.at({rank, offsets[rank]}));
  }
}

Bells::~Bells() {
  if (silent_) return;
  own_->~Bell();
  arena_.deallocate(own_, kBytes, kAlignment);
}

}  // namespace poise::tasks
