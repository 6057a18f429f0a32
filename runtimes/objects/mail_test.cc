// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/mail.h"

#include <gtest/gtest.h>
#include <map>
#include <string>

namespace poise::objects {
namespace {

/// Routes messages for even objects to one buffer and messages for odd objects to another.
class TwoBuffers final : public MessageRouter {
 public:
  Buffer& buffer_for(ObjectId to) override { return buffer[to % 2]; }
  void note(ObjectId from, ObjectId to, std::uint64_t bytes) override {
    noted.push_back({from, to, bytes});
  }
  Buffer buffer[2];
  struct Note {
    ObjectId from, to;
    std::uint64_t bytes;
    friend bool operator==(const Note&, const Note&) = default;
  };
  std::vector<Note> noted;
};

struct ReadMessage {
  ObjectId from;
  std::vector<ObjectId> to;
  std::string text;
  friend bool operator==(const ReadMessage&, const ReadMessage&) = default;
};

std::vector<ReadMessage> messages_in(const Buffer& buffer) {
  std::vector<ReadMessage> all;
  for (auto bytes = buffer.bytes(); !bytes.empty();) {
    const PackedMessage message = take_message(bytes);
    all.push_back({message.from,
                   {message.to.begin(), message.to.end()},
                   Mail(message.from, message.payload).as<std::string>()});
  }
  return all;
}

TEST(Outbox, keeps_messages_in_the_order_of_sending) {
  TwoBuffers router;
  Outbox outbox(router, 7);
  outbox.send(2, std::string("first"));
  outbox.send(3, std::string("other buffer"));
  outbox.send(4, std::string(""));
  EXPECT_EQ(messages_in(router.buffer[0]),
            (std::vector<ReadMessage>{{7, {2}, "first"}, {7, {4}, ""}}));
  EXPECT_EQ(messages_in(router.buffer[1]), (std::vector<ReadMessage>{{7, {3}, "other buffer"}}));
}

TEST(Outbox, a_message_to_several_objects_is_stored_only_once_in_each_send_buffer) {
  TwoBuffers router;
  Outbox outbox(router, 1);
  outbox.send_to_all(std::vector<ObjectId>{5, 2, 4, 9}, std::string("hello"));
  EXPECT_EQ(messages_in(router.buffer[0]), (std::vector<ReadMessage>{{1, {2, 4}, "hello"}}));
  EXPECT_EQ(messages_in(router.buffer[1]), (std::vector<ReadMessage>{{1, {5, 9}, "hello"}}));
  const std::uint64_t bytes = to_bytes(std::string("hello")).size();
  EXPECT_EQ(router.noted, (std::vector<TwoBuffers::Note>{
                              {1, 5, bytes}, {1, 2, bytes}, {1, 4, bytes}, {1, 9, bytes}}));
}

TEST(Outbox, a_message_without_receivers_is_not_sent) {
  TwoBuffers router;
  Outbox(router, 1).send_to_all({}, std::string("hello"));
  EXPECT_TRUE(router.buffer[0].empty() && router.buffer[1].empty() && router.noted.empty());
}

TEST(Mail, an_array_in_a_message_can_be_read_without_copying_it) {
  TwoBuffers router;
  Outbox outbox(router, 1);
  outbox.send(0, std::string("shifts the next message"));
  outbox.send(0, 'x', std::vector<double>{1, 2, 3});
  auto bytes = router.buffer[0].bytes();
  take_message(bytes);
  const PackedMessage message = take_message(bytes);
  char c = 0;
  std::span<const double> view;
  Mail(1, message.payload).read(c, view);
  EXPECT_EQ(c, 'x');
  EXPECT_EQ(std::vector<double>(view.begin(), view.end()), (std::vector<double>{1, 2, 3}));
}

TEST(PackedMessage, throws_if_bytes_are_missing_at_the_end) {
  TwoBuffers router;
  Outbox outbox(router, 1);
  outbox.send(0, std::string("some text"));
  const auto whole = router.buffer[0].bytes();
  // Bytes of the padding are not tested, because missing padding at the end does no harm.
  const std::size_t needed = 16 + 16 + to_bytes(std::string("some text")).size();
  for (std::size_t size = 1; size < needed; ++size) {
    auto bytes = whole.first(size);
    EXPECT_THROW(take_message(bytes), Error) << size;
  }
}

/// A value whose serialize() throws after it has written a part of the value.
struct Broken {
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(1.5);
    fail("cannot be packed");
  }
};

TEST(Outbox, a_value_that_cannot_be_serialized_leaves_the_other_messages_intact) {
  TwoBuffers router;
  Outbox outbox(router, 7);
  outbox.send(2, std::string("before"));
  EXPECT_THROW(outbox.send(4, Broken{}), Error);
  const ObjectId both[] = {1, 6};
  EXPECT_THROW(outbox.send_to_all(both, std::string("a part"), Broken{}), Error);
  outbox.send(6, std::string("after"));
  EXPECT_EQ(messages_in(router.buffer[0]),
            (std::vector<ReadMessage>{{7, {2}, "before"}, {7, {6}, "after"}}));
  EXPECT_TRUE(router.buffer[1].empty());
  EXPECT_EQ(router.noted.size(), 2u);
}

}  // namespace
}  // namespace poise::objects
