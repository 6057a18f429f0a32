// SPDX-License-Identifier: BSD-3-Clause
// When all ranks decide together, they communicate by the functions of poise/communication.h. This
// file implements these functions on MPI.
#pragma once

#include <mpi.h>

#include "runtimes/objects/job_layout.h"
#include "runtimes/objects/messenger.h"

#include "poise/communication.h"

namespace poise::objects {

class RankCommunication {
 public:
  /// All arguments must outlive this object.
  RankCommunication(MPI_Comm comm, const JobLayout& layout, Messenger& messenger)
      : comm_(comm), layout_(layout), messenger_(messenger) {}
  RankCommunication(const RankCommunication&) = delete;
  RankCommunication& operator=(const RankCommunication&) = delete;

  /// Returns a table of functions, which refers to this object. In calls of these functions, ranks
  /// are numbered in the order of their places.
  poise_communication table();

 private:
  static int exchange(void* self, std::uint64_t num_sends, const std::uint32_t* to,
                      const void* const* data, const std::uint64_t* bytes, poise_receive receive,
                      void* receiver);
  static int reduce(void* self, int reduction, std::uint64_t count, std::uint64_t* values);

  MPI_Comm comm_;
  const JobLayout& layout_;
  Messenger& messenger_;
};

}  // namespace poise::objects
