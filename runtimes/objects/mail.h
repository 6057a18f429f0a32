// What objects tell each other: an inbox to read and an outbox to write. Nothing here knows who
// carries the messages, so the same objects run under any host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtimes/archive/archive.h"

namespace poise::objects {

using ObjectId = std::uint32_t;

/// A message as its receiver sees it. Its bytes live until the receiver's step ends.
class Mail {
 public:
  Mail(ObjectId from, std::span<const std::byte> bytes) : from_(from), bytes_(bytes) {}

  ObjectId from() const { return from_; }
  std::span<const std::byte> bytes() const { return bytes_; }

  /// Reads what the sender wrote, in the same order. A std::span<const T> is read without a copy.
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

/// What was sent to an object in the step before: by sender, and as each sender sent it. This order
/// does not depend on where anybody lives.
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

/// Where messages go on their way, which is the host's affair.
class Routes {
 public:
  virtual ~Routes() = default;
  /// Where to append a message for this object. Throws Error when there is no such object.
  virtual Buffer& buffer_for(ObjectId to) = 0;
  virtual void note(ObjectId from, ObjectId to, std::uint64_t bytes) = 0;
};

/// Messages to be read in the next step, exactly once each.
class Outbox {
 public:
  Outbox(Routes& routes, ObjectId from) : routes_(routes), from_(from) {}

  template <typename... Ts>
  void send(ObjectId to, const Ts&... values) {
    send_to_all({&to, 1}, values...);
  }

  /// The same message to several objects; those who live together share one copy.
  template <typename... Ts>
  void send_to_all(std::span<const ObjectId> to, const Ts&... values) {
    if (to.empty()) return;
    const Begun begun = begin(to);
    Writer writer(*begun.buffer);
    writer(values...);
    end(begun, to);
  }

 private:
  struct Begun {
    Buffer* buffer;
    std::size_t at, payload_at;
  };
  Begun begin(std::span<const ObjectId> to);
  void group(std::span<const ObjectId> to);
  void end(const Begun& begun, std::span<const ObjectId> to);

  Routes& routes_;
  ObjectId from_;
  std::vector<std::pair<Buffer*, std::vector<ObjectId>>> others_;
};

/// Messages one after another in a buffer, each with all its receivers on one rank.
struct Letter {
  ObjectId from;
  std::span<const ObjectId> to;
  std::span<const std::byte> payload;
};

/// Takes the first letter off the bytes, which begin aligned as a Buffer does. Throws Error when
/// they are cut short.
Letter next_letter(std::span<const std::byte>& bytes);

/// Appends a letter.
void append_letter(Buffer& buffer, const Letter& letter);

}  // namespace poise::objects
