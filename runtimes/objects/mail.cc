// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/mail.h"

#include <algorithm>

namespace poise::objects {

namespace {

constexpr std::size_t kAlignment = 16;

/// The header of a message. The ids of the receivers and the payload follow it, both padded to
/// kAlignment.
struct MessageHeader {
  ObjectId from;
  std::uint32_t num_receivers;
  std::uint64_t bytes;  // size of the payload
};

/// Appends a header and the receivers. Returns the offset of the header.
std::size_t begin_message(Buffer& buffer, ObjectId from, std::span<const ObjectId> to) {
  const MessageHeader header{from, static_cast<std::uint32_t>(to.size()), 0};
  const std::size_t at = buffer.size();
  buffer.append(&header, sizeof header);
  buffer.append(to.data(), to.size_bytes());
  buffer.pad(kAlignment);
  return at;
}

/// Fills in the header after the payload has been appended.
void end_message(Buffer& buffer, std::size_t header_at, std::size_t payload_at) {
  const std::uint64_t bytes = buffer.size() - payload_at;
  std::memcpy(buffer.data() + header_at + offsetof(MessageHeader, bytes), &bytes, sizeof bytes);
  buffer.pad(kAlignment);
}

std::size_t padded(std::size_t bytes) { return (bytes + kAlignment - 1) & ~(kAlignment - 1); }

}  // namespace

Outbox::OpenMessage Outbox::begin(std::span<const ObjectId> to) {
  Buffer* first = &router_.buffer_for(to[0]);
  groups_.clear();
  const bool share_one_buffer = std::all_of(
      to.begin(), to.end(), [&](ObjectId id) { return &router_.buffer_for(id) == first; });
  if (!share_one_buffer) {
    group_by_buffer(to);
    to = groups_.front().second;
  }
  const std::size_t at = begin_message(*first, from_, to);
  return {first, at, first->size()};
}

/// Groups the receivers `to` of a message by the buffer to which the message to a receiver goes.
/// The first group contains the first receiver.
void Outbox::group_by_buffer(std::span<const ObjectId> to) {
  for (const ObjectId id : to) {
    Buffer* buffer = &router_.buffer_for(id);
    auto known = std::find_if(groups_.begin(), groups_.end(),
                              [&](const auto& group) { return group.first == buffer; });
    if (known == groups_.end()) known = groups_.insert(known, {buffer, {}});
    known->second.push_back(id);
  }
}

void Outbox::end(const OpenMessage& message, std::span<const ObjectId> to) {
  const std::size_t bytes = message.buffer->size() - message.payload_at;
  end_message(*message.buffer, message.header_at, message.payload_at);
  for (std::size_t i = 1; i < groups_.size(); ++i)
    append_message(*groups_[i].first, {from_, groups_[i].second,
                                       message.buffer->bytes().subspan(message.payload_at, bytes)});
  for (const ObjectId id : to) router_.note(from_, id, bytes);
}

PackedMessage take_message(std::span<const std::byte>& bytes) {
  MessageHeader header{};
  if (bytes.size() < sizeof header)
    fail("a message header needs {} bytes, but the buffer has only {} left", sizeof header,
         bytes.size());
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::size_t payload_at =
      padded(sizeof header + std::size_t{header.num_receivers} * sizeof(ObjectId));
  if (payload_at > bytes.size() || header.bytes > bytes.size() - payload_at)
    fail("a message has a payload of {} bytes, but the buffer has only {} left", header.bytes,
         bytes.size() - std::min(bytes.size(), payload_at));
  const auto* to = reinterpret_cast<const ObjectId*>(bytes.data() + sizeof header);
  const PackedMessage message{
      header.from, {to, header.num_receivers}, bytes.subspan(payload_at, header.bytes)};
  bytes = bytes.subspan(std::min(bytes.size(), padded(payload_at + header.bytes)));
  return message;
}

void append_message(Buffer& buffer, const PackedMessage& message) {
  const std::size_t header_at = begin_message(buffer, message.from, message.to);
  const std::size_t payload_at = buffer.size();
  buffer.append(message.payload.data(), message.payload.size());
  end_message(buffer, header_at, payload_at);
}

}  // namespace poise::objects
