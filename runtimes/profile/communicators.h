// SPDX-License-Identifier: BSD-3-Clause
// The communicators, windows, files and persistent collectives of the program: their ranks, their
// sizes, and the ranks' numbers in MPI_COMM_WORLD.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtimes/profile/last_arrivals.h"
#include "runtimes/profile/mpi_library.h"
#include "runtimes/profile/samples.h"

namespace poise::profile {

/// The neighbours of a rank in the topology of a communicator.
struct Neighbours {
  /// For each block of the send buffer, the block's receiver, as a rank of the communicator.
  std::vector<int> receivers;
  /// The ranks in MPI_COMM_WORLD to which the rank sends and from which it receives. Each rank is
  /// listed once; the rank itself is left out.
  std::vector<int> to, from;
};

/// The ranks of MPI_COMM_WORLD to which a rank has exposed its window (MPI_Win_post), and those
/// whose windows it accesses (MPI_Win_start).
struct Epochs {
  std::vector<int> exposed_to, accessed;
};

/// A communicator, or the group of a window, a file or a persistent collective. World ranks of
/// peers are looked up when first needed, which saves time and memory in programs with many large
/// communicators.
class Communicator {
 public:
  Communicator(const MpiLibrary& mpi, Word group, Word world_group, bool is_inter);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank = 0, size = 1;  // size: in an intercommunicator, that of the remote group
  bool is_inter = false;
  Word handle = 0;
  /// The communicator's ID: it is the same on all ranks of the communicator, and no other
  /// communicator has it. 0 if it is not known.
  std::uint64_t id = 0;
  Samples samples;
  std::unique_ptr<Neighbours> neighbours;  // null if not known yet
  Epochs epochs;                           // used only for a window
  Part part;                               // used only for a persistent collective

  /// The rank of the peer in MPI_COMM_WORLD, or -1 if it is not in MPI_COMM_WORLD.
  int world_rank(int peer);
  /// A hash of the world ranks of all members, in the order of the members. In an
  /// intercommunicator, only the members of the remote group count. O(size).
  std::uint64_t hash_of_members() const;

 private:
  const MpiLibrary& mpi_;
  Word group_, world_group_;
  // World ranks of peers. A small communicator has all of them in `all_`; a large one has those
  // looked up so far in `known_`.
  std::vector<int> all_;
  std::unordered_map<int, int> known_;
};

/// Takes the samples out of a communicator. Returns null if there is nothing to compare, or if the
/// communicator has no ID by which ranks could find each other's samples.
std::unique_ptr<Sampled> samples_of(Communicator& communicator);

class Communicators {
 public:
  explicit Communicators(const MpiLibrary& mpi);

  /// Returns the communicator of a handle; null for MPI_COMM_NULL and for handles that the loaded
  /// MPI library does not know.
  Communicator* of(Word communicator);
  /// True if the program has created or used this communicator.
  bool is_known(Word communicator) const {
    return ids_.contains(communicator) || communicators_.contains(communicator);
  }
  /// A hash of the world ranks of all members of a communicator, the same on all its ranks; 0 if
  /// the communicator is not known. O(size).
  std::uint64_t hash_of_members(Word communicator);
  Communicator* of_window(Word window);
  bool is_known_window(Word window) const { return windows_.contains(window); }
  /// Lists a group's members by their ranks in MPI_COMM_WORLD. Leaves out members that are not in
  /// MPI_COMM_WORLD.
  void list_world_ranks(Word group, std::vector<int>& world_ranks) const;
  /// Returns null for a file that only one rank opened, or that was opened before the profile
  /// began.
  Communicator* of_file(Word file);
  void forget(Word communicator);
  /// Forgets the communicator and returns it; returns null if none of its calls was recorded.
  std::unique_ptr<Communicator> taken(Word communicator);
  /// Records that the program created `communicator` from `parent`, and gives it an ID that is the
  /// same on all its ranks. If all ranks of the parent took part in the creation, `group` is empty,
  /// and all ranks of the parent must call this function. Ranks outside of the new communicator
  /// pass MPI_COMM_NULL. The ID is then computed from the number of these calls. If only the ranks
  /// of the new communicator took part, they all pass the same `group`, and the ID is computed from
  /// the group and the number of calls with this group.
  void created(Word parent, Word communicator, std::optional<std::uint64_t> group);
  /// Record that all ranks of `parent` have created a window or opened a file. The call that
  /// created or opened it must be the last call that `parent.samples` has counted. This call
  /// identifies the window or the file.
  void add_window(const Communicator& parent, Word window);
  void add_file(const Communicator& parent, Word file);
  /// Records that all ranks of `parent` have created a persistent collective. The call that created
  /// it must be the last call that `parent.samples` has counted. Each persistent collective has
  /// samples of its own, because ranks may start several persistent collectives in different
  /// orders. Returns null if the collective cannot be sampled.
  Communicator* add_operation(const Communicator& parent, Word request);
  bool has_operations() const { return !operations_.empty(); }
  /// Returns the persistent collective of `request`; null if add_operation() did not record it.
  Communicator* of_operation(Word request);
  std::unique_ptr<Communicator> taken_operation(Word request) {
    return taken_from(operations_, request);
  }
  void forget_window(Word window) { windows_.erase(window); }
  void forget_file(Word file) { files_.erase(file); }
  /// These functions forget a window or a file and return it; they return null if it is not known.
  std::unique_ptr<Communicator> taken_window(Word window) { return taken_from(windows_, window); }
  std::unique_ptr<Communicator> taken_file(Word file) { return taken_from(files_, file); }

  /// All known communicators, windows, files and persistent collectives, in any order.
  std::vector<Communicator*> all();

 private:
  using Table = std::unordered_map<Word, std::unique_ptr<Communicator>>;
  Communicator* add(Table& table, const Communicator& parent, Word handle);
  static std::unique_ptr<Communicator> taken_from(Table& table, Word handle);

  const MpiLibrary& mpi_;
  Word world_group_ = 0;
  std::unordered_map<Word, std::uint64_t> ids_;                // of communicators
  std::unordered_map<std::uint64_t, std::uint64_t> children_;  // ID -> count of its children
  Table communicators_, windows_, files_;
  Table operations_;  // persistent collectives, by request
  Word last_ = 0;
  Communicator* last_found_ = nullptr;
};

}  // namespace poise::profile
