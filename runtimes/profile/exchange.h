// What the ranks tell each other when the program ends: all of it through PMPI on a communicator of
// the profile's own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtimes/profile/communicators.h"
#include "runtimes/profile/series.h"

namespace poise::profile {

/// How long this rank waited in one sampled collective, and for which rank of MPI_COMM_WORLD.
struct Wait {
  std::int64_t entered_ns = 0, took_ns = 0, waited_ns = 0;
  std::int32_t for_whom = -1;  // -1: it did not wait
};

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

  /// Finds the waits of the samples of these communicators. Collective over the ranks of each; the
  /// order may differ between ranks.
  void find_waits(const std::vector<Communicator*>& communicators, std::vector<Wait>& waits) const;

  /// Appends the bytes of all ranks on rank 0, along a binomial tree.
  void gather(std::string& bytes) const;

 private:
  const MpiLibrary& mpi_;
  Word own_ = 0;  // the profile's communicator
  int rank_ = 0, size_ = 1;
};

}  // namespace poise::profile
