// SPDX-License-Identifier: BSD-3-Clause
// Records when a rank began, waited for and finished its sends and receives. The sender and the
// receiver of a message use the same rule to decide whether to record it, so that comparing their
// records shows which of them waited for the other.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "runtimes/profile/hash.h"
#include "runtimes/profile/key_table.h"

namespace poise::profile {

/// A send or a receive: one end of a message. A stream is all messages with the same source,
/// destination, communicator and tag. MPI keeps order: the i-th send goes to the i-th receive.
struct MessageEnd {
  std::uint64_t stream = 0;  // hash of source, destination, communicator and tag
  std::uint32_t number = 0;  // index of the message in its stream
  std::int32_t partner = 0;  // rank of MPI_COMM_WORLD
  std::int32_t tag = 0;
  std::int64_t begun_ns = 0;  // when the send was entered, or the receive posted
  /// Time at which the program entered the call that waits for the message.
  std::int64_t wait_begun_ns = 0;
  std::int64_t took_ns = 0;  // duration of the call that waits for the message; 0: no call waits
};

/// The data that identify the stream of a message. The partner and the tag of a receive may be
/// wildcards.
struct Envelope {
  std::uint64_t communicator = 0;  // the communicator's ID, the same on all its ranks
  std::int32_t partner = 0;        // rank in MPI_COMM_WORLD; kAny: any rank
  std::int32_t tag = 0;            // kAny: any
  static constexpr std::int32_t kAny = -1;
  friend bool operator==(const Envelope&, const Envelope&) = default;
  bool is_exact() const { return partner != kAny && tag != kAny; }
};

/// Records the sends and receives of a rank: the ends of messages. At first all ends are kept.
/// Whenever tuning::kMaxEnds sends or kMaxEnds receives are stored, about half of all ends are
/// dropped. Whether an end is dropped depends only on the message's tag and on its index in its
/// stream (the messages with the same sender, receiver, communicator and tag), so the sender and
/// the receiver agree. The messages of a stream are kept or dropped sixteen at a time, because a
/// call may wait for several messages.
///
/// Receives are numbered in the order in which they were posted. The message of a receive from any
/// source is known only when the receive completes. Until then, later receives that may match the
/// same messages wait in a queue for their number.
class MessageEnds {
 public:
  /// Identifies an operation that has begun but has not completed.
  using Id = std::uint32_t;
  static constexpr Id kNone = ~Id{0};

  explicit MessageEnds(std::int32_t rank) : rank_(rank) {}

  /// Records that a send to a partner, or a receive from one, began at `begun_ns`.
  Id begin_send(const Envelope& envelope, std::int64_t begun_ns);
  Id begin_receive(const Envelope& envelope, std::int64_t begun_ns);
  /// Records a blocking send or receive that has completed. Returns false if the message is not
  /// recorded. Equivalent to begin and complete, but cheaper.
  bool sent(const Envelope& envelope, std::int64_t entered_ns, std::int64_t took_ns);
  bool received(const Envelope& envelope, std::int64_t posted_ns, std::int64_t wait_begun_ns,
                std::int64_t took_ns);

  /// The envelope of an operation. For a receive from any source or with any tag, the caller must
  /// store the actual source and tag here before it calls complete().
  Envelope& envelope(Id id) { return operations_[id].envelope; }
  /// Records that the operation has completed. The call that waited for it was entered at
  /// `wait_begun_ns` and took `took_ns`.
  void complete(Id id, std::int64_t wait_begun_ns, std::int64_t took_ns);
  /// Stops recording. To be called when the order of messages is no longer known.
  void give_up() { has_given_up_ = true; }
  bool has_given_up() const { return has_given_up_; }

  std::span<const MessageEnd> sends() const { return sends_.kept; }
  std::span<const MessageEnd> receives() const { return receives_.kept; }
  std::uint64_t stride() const { return stride_; }

 private:
  /// A cache of the streams used last. For most messages it saves computing the hash of the stream
  /// and searching the hash table.
  struct Recent {
    Envelope envelope;
    std::uint64_t stream = 0;
    std::uint32_t* count = nullptr;
  };
  struct Side {
    KeyTable<std::uint32_t> counts;  // per stream: number of messages up to now
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
  std::vector<Id> queue_;  // receives not numbered yet, in the order of posting
  bool has_given_up_ = false;
};

}  // namespace poise::profile
