// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/packing.h"

#include <cstring>

namespace poise::objects {

namespace {

constexpr std::size_t kAlignment = 16;

/// The header of a packed object. The times of the object's steps, the serialized object and its
/// messages follow the header, each padded to kAlignment.
struct alignas(kAlignment) PackedObjectHeader {
  ObjectId id;
  std::uint32_t num_step_times = 0;
  std::uint64_t object_bytes = 0, message_bytes = 0;
};

std::size_t padded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

void ObjectPacker::pack(const LocalObject& object, Buffer& buffer) const {
  pack(object, buffer, [&](Buffer& messages) {
    for (const Mail& mail : object.inbox)
      append_message(messages, {mail.from(), {&object.id, 1}, mail.bytes()});
  });
}

void ObjectPacker::pack(const LocalObject& object, Buffer& buffer,
                        const std::function<void(Buffer&)>& append_messages) const {
  const std::size_t header_at = buffer.size();
  PackedObjectHeader header{object.id, static_cast<std::uint32_t>(object.step_s.size())};
  buffer.append(&header, sizeof header);
  buffer.append(object.step_s.data(), object.step_s.size() * sizeof(float));
  buffer.pad(kAlignment);
  const std::size_t object_at = buffer.size();
  guard_.run(object.id, [&] { object.object->write(buffer); });
  header.object_bytes = buffer.size() - object_at;
  buffer.pad(kAlignment);
  const std::size_t messages_at = buffer.size();
  append_messages(buffer);
  header.message_bytes = buffer.size() - messages_at;
  std::memcpy(buffer.data() + header_at, &header, sizeof header);
}

std::span<const std::byte> ObjectPacker::unpack(std::span<const std::byte>& bytes,
                                                LocalObject& object) const {
  PackedObjectHeader header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes = bytes.subspan(sizeof header);
  object.id = header.id;
  object.step_s.resize(header.num_step_times);
  const std::size_t time_bytes = object.step_s.size() * sizeof(float);
  if (time_bytes > 0) std::memcpy(object.step_s.data(), bytes.data(), time_bytes);
  bytes = bytes.subspan(padded(time_bytes));
  guard_.run(object.id,
             [&] { object.object = factory_.restore(bytes.first(header.object_bytes)); });
  const std::size_t messages_at = padded(header.object_bytes);
  const auto messages = bytes.subspan(messages_at, header.message_bytes);
  bytes = bytes.subspan(messages_at + header.message_bytes);
  return messages;
}

bool ObjectPacker::unpack_with_inbox(std::span<const std::byte>& bytes, LocalObject& object) const {
  auto messages = unpack(bytes, object);
  const bool has_messages = !messages.empty();
  while (!messages.empty()) {
    const PackedMessage message = take_message(messages);
    object.inbox.emplace_back(message.from, message.payload);
  }
  return has_messages;
}

}  // namespace poise::objects
