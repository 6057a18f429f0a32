// SPDX-License-Identifier: BSD-3-Clause
// Determines from the arguments of an MPI call which messages this rank sends to which ranks.
#pragma once

#include <array>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtimes/profile/attribution.h"
#include "runtimes/profile/communicators.h"
#include "runtimes/profile/recorder.h"

namespace poise::profile {

/// The arguments of a call from C or Fortran.
class Arguments {
 public:
  Arguments(const MpiLibrary& mpi, const Function& function, Language language, const Word* words)
      : mpi_(mpi), function_(function), language_(language), words_(words) {}

  Language language() const { return language_; }
  Word word(int position) const { return words_[position]; }
  std::int64_t number(int position) const;
  /// Returns an element of an array of counts.
  std::int64_t count(int position, int index) const;
  Word comm(int position) const;
  /// Returns the datatype that the argument at `position` names. If that argument is an array,
  /// `index` selects an element.
  Word type(int position, int index = -1) const;
  Word window(int position) const;
  Word group(int position) const;
  /// Returns the request to which the argument at `position` points. If that argument is an array
  /// of requests, returns its element `index`.
  Word request(int position, int index = 0) const;
  /// The number of requests that a call like MPI_Test or MPI_Testall asks about.
  int num_requests() const;
  /// True if one of these requests is not MPI_REQUEST_NULL.
  bool has_request() const;
  /// Returns a handle that both C and Fortran programs pass by address, as in MPI_Comm_free.
  Word comm_at_address(int position) const;
  Word window_at_address(int position) const;
  Word file(int position) const;
  Word file_at_address(int position) const;
  bool is_in_place() const;

 private:
  Word handle_at(Word address, int index, Word (MpiLibrary::*convert)(int) const) const;

  const MpiLibrary& mpi_;
  const Function& function_;
  Language language_;
  const Word* words_;
};

/// True if the call is a poll that found nothing: for example, no message has arrived.
bool found_nothing(const Function& function, const Arguments& arguments);

/// The requests that a successful call, such as MPI_Waitsome, has completed.
class Completed {
 public:
  Completed(const Function& function, const Arguments& arguments);
  /// `request` is the value that element `index` of the array of requests had before the call.
  bool contains(int index, Word request, bool is_persistent) {
    if (are_all_ || are_none_) return are_all_;
    // MPI has replaced the request by MPI_REQUEST_NULL, unless it is persistent.
    return is_persistent ? has_index(index)
                         : arguments_.request(function_.request, index) != request;
  }

 private:
  bool has_index(int index);
  void read_indices();

  const Function& function_;
  const Arguments& arguments_;
  bool are_all_ = false, are_none_ = false, has_indices_ = false;
  std::vector<int> indices_;  // sorted
};

/// Interprets MPI calls: adds the messages and bytes that each call sends to `sums`, and remembers
/// what persistent requests will send.
class Interpreter {
 public:
  Interpreter(const MpiLibrary& mpi, Sums& sums) : mpi_(mpi), communicators_(mpi), sums_(sums) {}

  /// Must run before the program's MPI call is executed. Removes the records of the MPI objects
  /// that the call will free.
  void before(const Function& function, const Arguments& arguments);
  /// Must run after the MPI call has succeeded.
  void after(const Function& function, const Arguments& arguments);

  /// Returns the communicator, window or file of a collective call: all ranks of this object must
  /// make the call. Returns null if the object is not known. If the call frees a window or a file,
  /// taken() must have been called before and have returned null.
  Communicator* joint(const Function& function, const Arguments& arguments);
  /// True if the program has created or used the communicator, window or file of a call, so that
  /// its handle is valid even if the call failed.
  bool is_known(const Function& function, const Arguments& arguments) const;
  /// Removes the window or file that MPI_Win_free or MPI_File_close will free, and returns it.
  std::unique_ptr<Communicator> taken(const Function& function, const Arguments& arguments);
  /// Records that the last sampled call on `parent` has created a window or a file.
  void add_object(const Function& function, const Arguments& arguments, Communicator& parent);

  /// Returns whether this rank can delay other ranks in a collective, and whether it waits for
  /// them. Returns nothing if that is not known.
  std::optional<Part> part_in(const Function& function, const Arguments& arguments,
                              const Communicator& communicator) const;
  const Neighbours& neighbours(Communicator& communicator) const;
  /// Returns the number of bytes of a collective if every rank knows it from its own arguments,
  /// otherwise 0.
  std::uint64_t agreed_bytes(const Function& function, const Arguments& arguments) const;

  Communicators& communicators() { return communicators_; }

 private:
  void add_communicator(const Function& function, const Arguments& arguments);
  void add_point_to_point(const Function& function, const Arguments& arguments,
                          std::vector<Traffic>& traffic);
  void add_collective(const Function& function, const Arguments& arguments,
                      std::vector<Traffic>& traffic);
  void add_neighbourhood(const Function& function, const Arguments& arguments,
                         Communicator& communicator, std::vector<Traffic>& traffic);
  std::uint64_t bytes_of(const Arguments& arguments, int count, int type) const;
  std::uint64_t size_of(Word type) const;
  void add(Communicator& communicator, int peer, std::uint64_t messages, std::uint64_t bytes,
           bool is_fetched, std::vector<Traffic>& traffic);
  void commit(const std::vector<Traffic>& traffic);

  const MpiLibrary& mpi_;
  Communicators communicators_;
  Sums& sums_;
  /// A cache of the sizes of MPI datatypes. An entry is removed when the program frees the
  /// datatype, because MPI may reuse the handle for another datatype.
  struct KnownSize {
    Word type = 0;
    std::uint64_t bytes = 0;
  };
  mutable std::array<KnownSize, 64> sizes_ = {};
  std::vector<Traffic> traffic_;  // traffic of the current call; kept to save allocations
  std::unordered_map<Word, std::vector<Traffic>> persistent_;  // by request
};

}  // namespace poise::profile
