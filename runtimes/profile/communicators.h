// SPDX-License-Identifier: BSD-3-Clause
// The communicators and windows that the program uses: ranks, sizes, and ranks in MPI_COMM_WORLD.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtimes/profile/mpi_library.h"
#include "runtimes/profile/samples.h"

namespace poise::profile {

/// A communicator or the group of a window. Peers are looked up as they are met, so that many large
/// communicators cost little.
class Communicator {
 public:
  Communicator(const MpiLibrary& mpi, Word group, Word world_group, bool is_inter);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank = 0, size = 1;  // size: in an intercommunicator, that of the remote group
  bool is_inter = false;
  Word handle = 0;
  std::uint64_t order = 0;  // number of its first use
  std::uint64_t id = 0;     // the same on all its ranks, unlike that of others; 0: not known
  Samples samples;

  /// The rank of the peer in MPI_COMM_WORLD, or -1 if the peer is not part of it.
  int world_rank(int peer);

 private:
  const MpiLibrary& mpi_;
  Word group_, world_group_;
  // World ranks of the peers: all of them at once in a small communicator, in a large one those
  // that were looked up so far.
  std::vector<int> all_;
  std::unordered_map<int, int> known_;
};

class Communicators {
 public:
  explicit Communicators(const MpiLibrary& mpi);

  /// Null for MPI_COMM_NULL and what this MPI does not know.
  Communicator* of(Word communicator);
  Communicator* of_window(Word window);
  void forget(Word communicator);
  /// The program has made a communicator (or MPI_COMM_NULL) of `parent`. Collective over it, so
  /// that all ranks count the same; where it is collective over the new one only, `group` tells it
  /// from others.
  void created(Word parent, Word communicator, std::optional<std::uint64_t> group);
  void forget_window(Word window) { windows_.erase(window); }

  /// All that are known, by first use.
  std::vector<Communicator*> all();

 private:
  const MpiLibrary& mpi_;
  Word world_group_ = 0;
  std::unordered_map<Word, std::uint64_t> ids_;                // of communicators
  std::unordered_map<std::uint64_t, std::uint64_t> children_;  // communicators made, by id
  std::unordered_map<Word, std::unique_ptr<Communicator>> communicators_, windows_;
  Word last_ = 0;
  Communicator* last_found_ = nullptr;
};

}  // namespace poise::profile
