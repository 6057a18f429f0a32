// SPDX-License-Identifier: BSD-3-Clause
// The messages between ranks at the end of the program. They use PMPI and a communicator that
// belongs to the profile.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtimes/profile/clock.h"
#include "runtimes/profile/communicators.h"
#include "runtimes/profile/last_arrivals.h"
#include "runtimes/profile/message_waits.h"
#include "runtimes/profile/series.h"
#include "runtimes/profile/wait.h"

namespace poise::profile {

class Exchange {
 public:
  /// Duplicates MPI_COMM_WORLD for the profile. Every rank must call this function. Returns 0 on
  /// all ranks if a rank does not call this function within tuning::kMaxJoin_s seconds, because
  /// that rank runs without this library or is late. There is one exception: if the kernel stops a
  /// rank for more than tuning::kMaxVote_s between the duplication and the rank's vote, this rank
  /// may get a communicator although the other ranks have given up.
  static Word joined(const MpiLibrary& mpi);
  /// True if joined() returned 0 because another rank had given up.
  static bool was_refused();
  /// If joined() returned 0, gives late ranks tuning::kMaxJoin_s seconds to complete the
  /// duplication of MPI_COMM_WORLD: the MPI_Finalize of Open MPI crashes if a communicator is only
  /// half created. Does nothing otherwise. To be called before MPI_Finalize.
  static void complete_join();

  /// `own` is the communicator that joined() returned. Collective.
  Exchange(const MpiLibrary& mpi, Word own);
  /// Frees the communicators of the profile. Collective.
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Returns the maximum of each value over all ranks. Collective.
  std::vector<double> largest(const std::vector<double>& own) const;
  /// True if all ranks passed the same value. Collective.
  bool all_agree(double own) const;

  /// Returns how far the clock of rank 0's host is ahead of this host's clock. Collective. Takes
  /// O(log hosts) rounds of short messages.
  ClockOffset offset_to_first();

  /// Finds the waits in sampled collectives. Collective on all ranks. Takes O(log² ranks) rounds of
  /// short messages, and each rank sends only to O(log ranks) others per communicator. The messages
  /// do not use the communicators of the program, because some of their ranks may be unable to take
  /// part: processes that the program has spawned, or ranks that have already freed a communicator.
  void find_waits(std::vector<std::unique_ptr<Sampled>> sampled, const CommonClock& clock,
                  std::vector<Wait>& waits) const;
  /// Finds how long this rank waited for the partners of its messages. Collective; each rank sends
  /// only to its partners.
  void find_waits(const MessageEnds& ends, const CommonClock& clock,
                  std::vector<Wait>& waits) const;

  /// Appends the data of all other ranks, in order of rank, to `bytes` on rank 0. Uses a binomial
  /// tree. Collective.
  void gather(std::string& bytes) const;

 private:
  void find_hosts();
  /// Sends each report to the rank that is its key, and calls `read` with the sender and the text
  /// of each report that other ranks send to this rank. Every call needs a tag that no other call
  /// uses. Collective.
  void deliver(int tag, const std::map<int, std::string>& reports,
               const std::function<void(int from, const std::string& report)>& read) const;
  ClockOffset offset_of_leader() const;
  std::vector<RoundTrip> ask(int leader) const;
  void answer(int leader) const;

  const MpiLibrary& mpi_;
  Word own_ = 0;  // the profile's communicator
  int rank_ = 0, size_ = 1;
  /// Two communicators: host_ contains the ranks that have the same clock as this rank; leaders_
  /// contains the first rank of each host.
  Word host_ = 0, leaders_ = 0;
  bool is_leader_ = false;
  int num_hosts_ = 1;
};

}  // namespace poise::profile
