// SPDX-License-Identifier: BSD-3-Clause
// Follows the sends and receives of this rank from the calls that begin them to the calls that wait
// for them. Neighbourhood collectives, and calls that begin and end epochs of windows, count as
// sends and receives, too.
#pragma once

#include <optional>
#include <vector>

#include "runtimes/profile/interpret.h"
#include "runtimes/profile/key_table.h"
#include "runtimes/profile/message_ends.h"

namespace poise::profile {

/// Observes MPI calls. May replace arguments in the list `words`, which is then passed to MPI.
class PointToPoint {
 public:
  PointToPoint(const MpiLibrary& mpi, Communicators& communicators, int rank)
      : mpi_(mpi), communicators_(communicators), ends_(rank) {}

  /// True if calls of this function begin, complete or wait for messages.
  static bool concerns(const Function& function);
  /// True for the functions that begin and end epochs of a window.
  static bool is_of_window(const Function& function);

  /// To be called before the MPI call. After a receive from any source, the source is read from the
  /// status. If the program ignores the status, MPI gets one that belongs to the profile.
  void before(const Function& function, const Arguments& arguments, Word* words);
  /// Called after a call that succeeded and lasted from `entered_ns` to `left_ns`. A loop of polls
  /// counts as one call, which ends with the poll that finds something. Returns true if the call
  /// may have waited for a partner.
  bool after(const Function& function, const Arguments& arguments, std::int64_t entered_ns,
             std::int64_t left_ns);

  /// To be called after each blocking neighbourhood collective on `communicator`, even if it failed
  /// on this rank. Returns true if this rank may have waited. A rank waits for each neighbour that
  /// sends to it, just as a receiver waits for the sender of a message.
  bool after_neighbourhood(const Communicator& communicator, const Neighbours& neighbours,
                           std::int64_t entered_ns, std::int64_t left_ns);
  /// To be called after a call that has begun a neighbourhood collective with a request. The call
  /// that completes the request waits for the neighbours.
  void begin_neighbourhood(const Communicator& communicator, const Neighbours& neighbours,
                           Word request, bool is_persistent, std::int64_t entered_ns);

  MessageEnds& ends() { return ends_; }
  const MessageEnds& ends() const { return ends_; }

 private:
  using Id = MessageEnds::Id;
  struct Request {
    Id id = MessageEnds::kNone;
    bool is_persistent = false;
    Word communicator = 0;
    /// Index in `more_` of the messages that the request receives besides `id`, as in a
    /// neighbourhood collective; -1: there are none.
    std::int32_t more = -1;
  };
  struct Persistent {
    Envelope envelope;
    Word communicator = 0;
    bool is_send = false;
  };
  struct Active {  // a request of the call that is running
    Word request;
    int index;  // the request's index in the call's array of requests
    Request state;
  };
  /// A message that MPI_Probe or a loop of MPI_Iprobe has waited for, and that a later receive will
  /// take.
  struct Probed {
    Envelope envelope;
    std::int64_t entered_ns = 0, took_ns = 0;
  };

  std::optional<Envelope> envelope_of(const Function& function, const Arguments& arguments,
                                      int partner, int tag);
  void find_active(const Function& function, const Arguments& arguments);
  void see_status(const Function& function, const Arguments& arguments, Word* words,
                  std::size_t count);
  bool after_send(const Function& function, const Arguments& arguments, std::int64_t entered_ns,
                  std::int64_t left_ns);
  bool after_receive(const Function& function, const Arguments& arguments, std::int64_t entered_ns,
                     std::int64_t left_ns);
  bool after_probe(const Function& function, const Arguments& arguments, std::int64_t entered_ns,
                   std::int64_t left_ns);
  bool after_wait(const Function& function, const Arguments& arguments, std::int64_t entered_ns,
                  std::int64_t left_ns);
  bool after_window_call(const Function& function, const Arguments& arguments,
                         std::int64_t entered_ns, std::int64_t left_ns);
  void send_to(const std::vector<int>& ranks, std::uint64_t stream, std::int64_t entered_ns);
  bool receive_from(const std::vector<int>& ranks, std::uint64_t stream, std::int64_t entered_ns,
                    std::int64_t took_ns);
  bool see_met(const Function& function, const Arguments& arguments, Word communicator,
               Envelope& envelope, int index);
  const void* status_of(const Function& function, const Arguments& arguments, int index) const;
  void start(Word request, std::int64_t entered_ns);
  void track(Word request, const Request& state);
  void add_more(Request& state, Id id);
  void complete(const Request& state, std::int64_t wait_begun_ns, std::int64_t took_ns);

  const MpiLibrary& mpi_;
  Communicators& communicators_;
  MessageEnds ends_;
  KeyTable<Request> requests_;  // requests whose operations have begun
  KeyTable<Persistent> persistent_;
  std::vector<std::vector<Id>> more_;
  std::vector<std::int32_t> free_more_;  // unused entries of more_
  std::vector<Active> active_;
  std::optional<Probed> probed_;
  /// Statuses that MPI gets where the program passed MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE.
  std::vector<std::uint64_t> own_statuses_;
};

}  // namespace poise::profile
