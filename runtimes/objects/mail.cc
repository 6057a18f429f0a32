#include "runtimes/objects/mail.h"

#include <algorithm>

namespace poise::objects {

namespace {

constexpr std::size_t kAlignment = 16;

struct Envelope {
  ObjectId from;
  std::uint32_t num_receivers;
  std::uint64_t bytes;
};

std::size_t open_letter(Buffer& buffer, ObjectId from, std::span<const ObjectId> to) {
  const Envelope envelope{from, static_cast<std::uint32_t>(to.size()), 0};
  const std::size_t at = buffer.size();
  buffer.append(&envelope, sizeof envelope);
  buffer.append(to.data(), to.size_bytes());
  buffer.pad(kAlignment);
  return at;
}

void close_letter(Buffer& buffer, std::size_t at, std::size_t payload_at) {
  const std::uint64_t bytes = buffer.size() - payload_at;
  std::memcpy(buffer.data() + at + offsetof(Envelope, bytes), &bytes, sizeof bytes);
  buffer.pad(kAlignment);
}

std::size_t padded(std::size_t bytes) { return (bytes + kAlignment - 1) & ~(kAlignment - 1); }

}  // namespace

Outbox::Begun Outbox::begin(std::span<const ObjectId> to) {
  Buffer* first = &routes_.buffer_for(to[0]);
  others_.clear();
  const bool live_together = std::all_of(
      to.begin(), to.end(), [&](ObjectId id) { return &routes_.buffer_for(id) == first; });
  if (!live_together) {
    group(to);
    to = others_.front().second;
  }
  const std::size_t at = open_letter(*first, from_, to);
  return {first, at, first->size()};
}

/// By the buffer they are reached through, that of the first first.
void Outbox::group(std::span<const ObjectId> to) {
  for (const ObjectId id : to) {
    Buffer* buffer = &routes_.buffer_for(id);
    auto known = std::find_if(others_.begin(), others_.end(),
                              [&](const auto& other) { return other.first == buffer; });
    if (known == others_.end()) known = others_.insert(known, {buffer, {}});
    known->second.push_back(id);
  }
}

void Outbox::end(const Begun& begun, std::span<const ObjectId> to) {
  const std::size_t bytes = begun.buffer->size() - begun.payload_at;
  close_letter(*begun.buffer, begun.at, begun.payload_at);
  for (std::size_t i = 1; i < others_.size(); ++i)
    append_letter(*others_[i].first, {from_, others_[i].second,
                                      begun.buffer->bytes().subspan(begun.payload_at, bytes)});
  for (const ObjectId id : to) routes_.note(from_, id, bytes);
}

Letter next_letter(std::span<const std::byte>& bytes) {
  Envelope envelope{};
  if (bytes.size() < sizeof envelope) fail("a message's envelope is cut short");
  std::memcpy(&envelope, bytes.data(), sizeof envelope);
  const std::size_t payload_at =
      padded(sizeof envelope + std::size_t{envelope.num_receivers} * sizeof(ObjectId));
  if (payload_at > bytes.size() || envelope.bytes > bytes.size() - payload_at)
    fail("a message of {} bytes is cut short", envelope.bytes);
  const auto* to = reinterpret_cast<const ObjectId*>(bytes.data() + sizeof envelope);
  const Letter letter{
      envelope.from, {to, envelope.num_receivers}, bytes.subspan(payload_at, envelope.bytes)};
  bytes = bytes.subspan(std::min(bytes.size(), padded(payload_at + envelope.bytes)));
  return letter;
}

void append_letter(Buffer& buffer, const Letter& letter) {
  const std::size_t at = open_letter(buffer, letter.from, letter.to);
  const std::size_t payload_at = buffer.size();
  buffer.append(letter.payload.data(), letter.payload.size());
  close_letter(buffer, at, payload_at);
}

}  // namespace poise::objects
