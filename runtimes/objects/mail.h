// SPDX-License-Identifier: BSD-3-Clause
// Messages between objects: an inbox to read and an outbox to write. Independent of MPI, so that
// the same objects run on MPI, Charm++ or OpenMP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtimes/archive/archive.h"

namespace poise::objects {

/// Identifies an object on all ranks: the index of the object in the collection, counted from 0.
using ObjectId = std::uint32_t;

/// A received message. Its bytes are valid until the receiver's step ends.
class Mail {
 public:
  Mail(ObjectId from, std::span<const std::byte> bytes) : from_(from), bytes_(bytes) {}

  ObjectId from() const { return from_; }
  std::span<const std::byte> bytes() const { return bytes_; }

  /// Reads the values in the order in which they were sent. A std::span<const T> is read without a
  /// copy. Throws Error if the types do not fit the bytes.
  template <typename... Ts>
  void read(Ts&... values) const {
    Reader reader(bytes_);
    reader(values...);
  }
  template <typename T>
  T as() const {
    T value{};
    read(value);
    return value;
  }

 private:
  ObjectId from_;
  std::span<const std::byte> bytes_;
};

/// The messages sent to an object in the previous step, ordered by sender and then by time of
/// sending. This order does not depend on the placement.
class Inbox {
 public:
  explicit Inbox(std::span<const Mail> mails) : mails_(mails) {}
  auto begin() const { return mails_.begin(); }
  auto end() const { return mails_.end(); }
  std::size_t size() const { return mails_.size(); }
  bool empty() const { return mails_.empty(); }
  const Mail& operator[](std::size_t i) const { return mails_[i]; }

 private:
  std::span<const Mail> mails_;
};

/// Provides the buffers for outgoing messages. Every runtime that runs objects implements it.
class MessageRouter {
 public:
  virtual ~MessageRouter() = default;
  /// Returns the buffer to which to append a message for object `to`. Throws Error if there is no
  /// such object.
  virtual Buffer& buffer_for(ObjectId to) = 0;
  /// Called for every receiver of every message, so that the communication can be measured.
  virtual void note(ObjectId from, ObjectId to, std::uint64_t bytes) = 0;
};

/// Sends messages. Each is received exactly once, in the receiver's next step.
class Outbox {
 public:
  Outbox(MessageRouter& router, ObjectId from) : router_(router), from_(from) {}

  template <typename... Ts>
  void send(ObjectId to, const Ts&... values) {
    send_to_all({&to, 1}, values...);
  }

  /// Sends a message to several objects. Receivers on the same rank share one copy. If writing a
  /// value throws, nothing is sent.
  template <typename... Ts>
  void send_to_all(std::span<const ObjectId> to, const Ts&... values) {
    if (to.empty()) return;
    const OpenMessage message = begin(to);
    try {
      Writer writer(*message.buffer);
      writer(values...);
    } catch (...) {  // removes the incomplete message, because the sender may catch the exception
      message.buffer->resize(message.header_at);
      throw;
    }
    end(message, to);
  }

 private:
  /// A message whose payload is being written.
  struct OpenMessage {
    Buffer* buffer;
    std::size_t header_at, payload_at;  // offsets into the buffer
  };
  OpenMessage begin(std::span<const ObjectId> to);
  void group_by_buffer(std::span<const ObjectId> to);
  void end(const OpenMessage& message, std::span<const ObjectId> to);

  MessageRouter& router_;
  ObjectId from_;
  std::vector<std::pair<Buffer*, std::vector<ObjectId>>> groups_;  // receivers by buffer
};

/// A message in a buffer that one rank sends to another. `to` lists all receivers on that other
/// rank.
struct PackedMessage {
  ObjectId from;
  std::span<const ObjectId> to;
  std::span<const std::byte> payload;
};

/// Removes the first message from `bytes` and returns it. The bytes must be aligned like those of a
/// Buffer. Throws Error if the message is incomplete.
PackedMessage take_message(std::span<const std::byte>& bytes);

/// Appends a message to a buffer, padded so that take_message() can read it.
void append_message(Buffer& buffer, const PackedMessage& message);

// Deprecated names.
using Routes = MessageRouter;
using Letter = PackedMessage;
inline PackedMessage next_letter(std::span<const std::byte>& bytes) { return take_message(bytes); }

}  // namespace poise::objects
