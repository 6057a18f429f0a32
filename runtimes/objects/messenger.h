// SPDX-License-Identifier: BSD-3-Clause
// Messages of any size between ranks, including a sparse all-to-all exchange.
#pragma once

#include <mpi.h>
#include <vector>

#include "runtimes/archive/buffer.h"

namespace poise::objects {

/// A buffer to send, with room for a header in front of its content. The content is aligned like
/// the bytes of a Buffer.
class MessageBuffer {
 public:
  static constexpr std::size_t kHeaderBytes = 16;

  bool empty() const { return buffer_.size() <= kHeaderBytes; }
  /// Removes the content but keeps the memory.
  void clear() { buffer_.resize(0); }
  /// Returns the buffer, to which the caller appends content.
  Buffer& open() {
    if (buffer_.empty()) buffer_.resize(kHeaderBytes);
    return buffer_;
  }
  std::span<const std::byte> content() const {
    return buffer_.bytes().subspan(std::min(kHeaderBytes, buffer_.size()));
  }

 private:
  friend class Messenger;
  Buffer buffer_;
};

/// Sends and receives messages over a communicator that nothing else uses. Messages larger than
/// `max_piece` bytes are split into pieces, because MPI counts in int. All messages that a probe
/// finds are received concurrently: MPI transfers a large message only when its receive is posted,
/// so receiving one message after another would leave links idle. Not thread-safe.
class Messenger {
 public:
  struct Received {
    int from;  // rank of the sender
    MessageBuffer buffer;
  };

  explicit Messenger(MPI_Comm comm, std::size_t max_piece = std::size_t{1} << 30)
      : comm_(comm), max_piece_(max_piece) {}

  /// Sparse all-to-all exchange: sends outgoing[r] to rank r unless it is empty, and returns the
  /// messages sent to this rank, in arbitrary order. Collective. Only non-empty messages are sent;
  /// a non-blocking barrier detects when the receipt of all messages has begun (Hoefler, Siebert
  /// and Lumsdaine, "Scalable communication protocols for dynamic sparse data exchange", 2010). If
  /// `any` is given, *any becomes true on all ranks if it was true on at least one rank.
  std::vector<Received> sparse_all_to_all(std::vector<MessageBuffer>& outgoing,
                                          bool* any = nullptr);

  /// Provides memory for the messages received next, and frees the memory that was provided before.
  /// Receiving into new memory takes longer than the transfer, because the system zeroes new pages
  /// first.
  void reuse(std::vector<MessageBuffer> buffers) { spare_ = std::move(buffers); }

  /// Starts a point-to-point send and returns immediately. finish() waits for all sends.
  void send(int to, MessageBuffer buffer);
  /// Waits for the next message that any rank sent with send().
  Received receive();
  /// Receives a message if one has arrived. Returns false if none has.
  bool try_receive(Received& received);
  void finish();

 private:
  /// Messages that are being received, with one request each.
  struct Arriving {
    std::vector<Received> messages;
    std::vector<MPI_Request> requests;
  };

  void post(int to, const MessageBuffer& message, int tag, bool synchronously);
  void begin_receiving(int tag, std::size_t max_messages, Arriving& arriving);
  void receive_whole(Received& received, MPI_Message message, int tag);
  static bool take_arrived(Arriving& arriving, Received& received);
  MessageBuffer buffer_of(std::size_t bytes);

  MPI_Comm comm_;
  std::size_t max_piece_;
  int round_ = 0;
  std::vector<MPI_Request> requests_;
  std::vector<MessageBuffer> sent_;   // kept until the requests are complete
  std::vector<MessageBuffer> spare_;  // memory for the next received messages
  Arriving arriving_;                 // messages that other ranks sent with send()
};

}  // namespace poise::objects
