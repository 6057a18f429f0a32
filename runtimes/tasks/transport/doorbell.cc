// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/transport/doorbell.h"

namespace poise::tasks {

Doorbells::Doorbells(MPI_Comm communicator, Arena& arena) : doorbells_(communicator, arena) {
  int self = 0, size = 1;
  MPI_Comm_rank(communicator, &self);
  MPI_Comm_size(communicator, &size);
  all_ranks_notify_ = size > 1;
  for (int rank = 0; rank < size; ++rank)
    if (rank != self) all_ranks_notify_ &= doorbells_.is_visible_to(rank);
}

}  // namespace poise::tasks
