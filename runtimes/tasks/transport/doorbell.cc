#include "runtimes/tasks/transport/doorbell.h"

namespace poise::tasks {

Bells::Bells(MPI_Comm communicator, Arena& arena) : bells_(communicator, arena) {
  int self = 0, size = 1;
  MPI_Comm_rank(communicator, &self);
  MPI_Comm_size(communicator, &size);
  ring_for_all_ = size > 1;
  for (int rank = 0; rank < size; ++rank)
    if (rank != self) ring_for_all_ &= bells_.is_seen_by(static_cast<std::uint32_t>(rank));
}

}  // namespace poise::tasks
