// SPDX-License-Identifier: BSD-3-Clause
// Assigns messages to a collective: says which ranks are assumed to send to which. MPI libraries
// choose among many algorithms. The profile assumes the usual ones, listed here, for every library,
// so that the communication matrices of different libraries can be compared.
//
//   Barrier                    dissemination, empty messages
//   Bcast, Reduce              binomial tree
//   Gather(v), Scatter(v)      each rank directly to or from the root
//   Allgather(v)               ring
//   Allreduce                  recursive doubling up to 64 KiB; above that a ring (reduce-scatter,
//                              then allgather)
//   Alltoall(v,w), Reduce_scatter(_block), neighbourhood collectives
//                              directly to each receiver
//   Scan, Exscan               recursive doubling to higher ranks
#pragma once

#include <cstdint>
#include <functional>

#include "runtimes/profile/function.h"

namespace poise::profile {

struct Collective {
  Meaning meaning = Meaning::barrier;
  int rank = 0, size = 1, root = 0;  // root: only for collectives that have one
  std::uint64_t bytes = 0;           // size of the vector or of this rank's block
  /// A function, set only for collectives with a count per rank. It returns the number of bytes
  /// that this rank sends to the given rank or, for MPI_Allgatherv, the number of bytes that the
  /// given rank contributes.
  std::function<std::uint64_t(int)> block_bytes = {};
};

/// Calls send(to, messages, bytes) for each rank to which `rank` sends. Does not support
/// neighbourhood collectives, whose receivers depend on the topology.
void sends_of(const Collective& collective,
              const std::function<void(int to, std::uint64_t messages, std::uint64_t bytes)>& send);

}  // namespace poise::profile
