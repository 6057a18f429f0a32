// SPDX-License-Identifier: BSD-3-Clause
// When a rank entered, waited in and left its sends and receives, of the same messages as the
// ranks at their other ends: who waited for whom is found by comparing both.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "runtimes/profile/hash.h"
#include "runtimes/profile/key_table.h"

namespace poise::profile {

/// One end of a message. MPI does not let messages of a stream (source, destination, communicator,
/// tag) overtake each other: its i-th send meets its i-th receive.
struct MessageEnd {
  std::uint64_t stream = 0;  // hash
  std::uint32_t number = 0;  // of the message in its stream
  std::int32_t partner = 0;  // rank of MPI_COMM_WORLD
  std::int32_t tag = 0;
  std::int64_t begun_ns = 0;  // when the send was entered, or the receive posted
  std::int64_t waits_ns = 0;  // when the call was entered in which the program waits for it
  std::int64_t took_ns = 0;   // that call; 0: the program waits for it in none
};

/// The place of messages in a stream, and who is looked for.
struct Envelope {
  std::uint64_t communicator = 0;  // the same on all its ranks
  std::int32_t partner = 0;        // rank of MPI_COMM_WORLD; kAny: any
  std::int32_t tag = 0;            // kAny: any
  static constexpr std::int32_t kAny = -1;
  friend bool operator==(const Envelope&, const Envelope&) = default;
  bool is_exact() const { return partner != kAny && tag != kAny; }
};

/// Keeps all ends at first. When tuning::kMaxEnds have come together, every second is dropped:
/// which, depends on a message's stream and number alone, so that both its ends agree. The numbers
/// of a stream are kept or dropped sixteen at a time, for calls that wait for several messages.
///
/// Receives are numbered in the order in which they were posted. What a receive from any source
/// met is known when it completes: until then those behind it that may match the same messages
/// stand in a queue.
class MessageEnds {
 public:
  /// An operation that has begun and not completed.
  using Id = std::uint32_t;
  static constexpr Id kNone = ~Id{0};

  explicit MessageEnds(std::int32_t rank) : rank_(rank) {}

  /// Begins a send to, or a receive from, a partner. `begun_ns`: when.
  Id begin_send(const Envelope& envelope, std::int64_t begun_ns);
  Id begin_receive(const Envelope& envelope, std::int64_t begun_ns);
  /// A blocking call that was entered at `entered_ns` has sent or received a message, posted behind
  /// all others. False if it is not looked at. The same as begin and complete, at less cost.
  bool sent(const Envelope& envelope, std::int64_t entered_ns, std::int64_t took_ns);
  bool received(const Envelope& envelope, std::int64_t posted_ns, std::int64_t waits_ns,
                std::int64_t took_ns);

  /// Of an operation. What a receive from any source or with any tag has met is told before
  /// complete().
  Envelope& envelope(Id id) { return operations_[id].envelope; }
  /// The call of `took_ns` that was entered at `waits_ns` has waited for the operation.
  void complete(Id id, std::int64_t waits_ns, std::int64_t took_ns);
  /// The order of messages is no longer known: none is looked at from now on.
  void give_up() { has_given_up_ = true; }
  bool has_given_up() const { return has_given_up_; }

  std::span<const MessageEnd> sends() const { return sends_.kept; }
  std::span<const MessageEnd> receives() const { return receives_.kept; }
  std::uint64_t stride() const { return stride_; }

 private:
  /// The streams met last, so that most messages need no hash.
  struct Recent {
    Envelope envelope;
    std::uint64_t stream = 0;
    std::uint32_t* count = nullptr;
  };
  struct Side {
    KeyTable<std::uint32_t> counts;  // messages of a stream up to now
    std::array<Recent, 32> recent = {};
    std::vector<MessageEnd> kept;
  };
  struct Operation {
    Envelope envelope;
    MessageEnd end;
    bool is_send = false, is_numbered = false, is_complete = false, is_queued = false;
  };

  Id begin(Side& side, bool is_send, const Envelope& envelope, std::int64_t begun_ns);
  void number(Operation& operation);
  void number(bool is_send, const Envelope& envelope, MessageEnd& end);
  void keep(bool is_send, const MessageEnd& end);
  bool must_queue(const Envelope& envelope) const;
  void resolve();
  void finish(Id id);
  bool is_kept(const MessageEnd& end) const;
  void halve(Side& side);

  std::int32_t rank_;
  Side sends_, receives_;
  std::uint64_t stride_ = 1;
  std::vector<Operation> operations_;
  std::vector<Id> free_;
  std::vector<Id> queue_;  // receives without a number, in the order of posting
  bool has_given_up_ = false;
};

}  // namespace poise::profile
