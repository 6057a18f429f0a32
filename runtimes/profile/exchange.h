// SPDX-License-Identifier: BSD-3-Clause
// What the ranks tell each other when the program ends: all of it through PMPI on a communicator of
// the profile's own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtimes/profile/clock.h"
#include "runtimes/profile/communicators.h"
#include "runtimes/profile/message_waits.h"
#include "runtimes/profile/series.h"
#include "runtimes/profile/wait.h"

namespace poise::profile {

class Exchange {
 public:
  /// Collective over MPI_COMM_WORLD.
  explicit Exchange(const MpiLibrary& mpi);

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// The largest of each value over all ranks.
  std::vector<double> largest(const std::vector<double>& own) const;
  /// Whether all ranks gave the same.
  bool all_agree(double own) const;

  /// How far the clock of rank 0's host is ahead of this host's. Collective; one message to and
  /// fro between hosts at a time, O(log hosts) deep.
  ClockOffset offset_to_first();

  /// Finds the waits of the samples of these communicators. Collective over the ranks of each; the
  /// order may differ between ranks.
  void find_waits(const std::vector<Communicator*>& communicators, const CommonClock& clock,
                  std::vector<Wait>& waits) const;
  /// Finds the waits for partners of messages. Collective; ranks write to their partners only.
  void find_waits(const MessageEnds& ends, const CommonClock& clock,
                  std::vector<Wait>& waits) const;

  /// Appends the bytes of all ranks on rank 0, along a binomial tree.
  void gather(std::string& bytes) const;

 private:
  void find_hosts();
  void deliver(const std::map<int, std::string>& letters, MessageWaits& reader) const;
  ClockOffset offset_of_leader() const;
  std::vector<RoundTrip> ask(int leader) const;
  void answer(int leader) const;

  const MpiLibrary& mpi_;
  Word own_ = 0;  // the profile's communicator
  int rank_ = 0, size_ = 1;
  Word host_ = 0, leaders_ = 0;  // the ranks of one clock; the first rank of each
  bool is_leader_ = false;
  int num_hosts_ = 1;
};

}  // namespace poise::profile
