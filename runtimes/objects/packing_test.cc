// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/packing.h"

#include <gtest/gtest.h>
#include <string>

namespace poise::objects {
namespace {

class Text final : public AnyObject {
 public:
  explicit Text(std::string of) : text(std::move(of)) {}
  void step(const Inbox&, Outbox&) override {}
  std::size_t bytes() const override { return to_bytes(text).size(); }
  void write(Buffer& buffer) const override {
    Writer writer(buffer);
    writer(text);
  }
  void describe(ObjectRow&) const override {}
  std::string text;
};

std::string text_of(const LocalObject& object) {
  return static_cast<const Text&>(*object.object).text;
}

class PackingTest : public testing::Test {
 protected:
  LocalObject object(ObjectId id, const std::string& text) const {
    LocalObject result;
    result.id = id;
    result.object = std::make_unique<Text>(text);
    return result;
  }
  std::uint64_t steps_ = 0;
  ObjectFactory factory_{nullptr, [](std::span<const std::byte> bytes) {
                           return std::make_unique<Text>(from_bytes<std::string>(bytes));
                         }};
  ObjectGuard guard_{MPI_COMM_NULL, "texts", steps_};
  ObjectPacker packer_{factory_, guard_};
};

TEST_F(PackingTest, objects_are_unpacked_in_the_order_of_packing) {
  Buffer buffer;
  packer_.pack(object(3, "first"), buffer);
  packer_.pack(object(1, ""), buffer);
  auto bytes = buffer.bytes();
  for (const auto& [id, text] : {std::pair{3u, "first"}, std::pair{1u, ""}}) {
    LocalObject restored;
    EXPECT_FALSE(packer_.unpack_with_inbox(bytes, restored));
    EXPECT_EQ(restored.id, id);
    EXPECT_EQ(text_of(restored), text);
  }
  EXPECT_TRUE(bytes.empty());
}

TEST_F(PackingTest, received_messages_migrate_with_the_object) {
  LocalObject sent = object(5, "reader");
  const Buffer hello = to_bytes(std::string("hello")), empty;
  sent.inbox = {Mail(7, hello.bytes()), Mail(8, empty.bytes())};
  Buffer buffer;
  packer_.pack(sent, buffer);
  auto bytes = buffer.bytes();
  LocalObject restored;
  EXPECT_TRUE(packer_.unpack_with_inbox(bytes, restored));
  ASSERT_EQ(restored.inbox.size(), 2u);
  EXPECT_EQ(restored.inbox[0].from(), 7u);
  EXPECT_EQ(restored.inbox[0].as<std::string>(), "hello");
  EXPECT_EQ(restored.inbox[1].from(), 8u);
  EXPECT_TRUE(restored.inbox[1].bytes().empty());
}

TEST_F(PackingTest, measured_times_of_steps_migrate_with_the_object) {
  LocalObject sent = object(0, "x");
  sent.step_s = {0.5, 0, 2};
  Buffer buffer;
  packer_.pack(sent, buffer);
  auto bytes = buffer.bytes();
  LocalObject restored;
  packer_.unpack(bytes, restored);
  EXPECT_EQ(restored.step_s, sent.step_s);
}

TEST_F(PackingTest, can_pack_messages_that_a_callback_writes_instead_of_those_in_the_inbox) {
  Buffer buffer;
  packer_.pack(object(2, "sender"), buffer, [](Buffer& messages) {
    const ObjectId to[] = {4, 6};
    append_message(messages, {2, to, {}});
  });
  auto bytes = buffer.bytes();
  LocalObject restored;
  auto messages = packer_.unpack(bytes, restored);
  const PackedMessage message = take_message(messages);
  EXPECT_EQ(std::vector<ObjectId>(message.to.begin(), message.to.end()),
            (std::vector<ObjectId>{4, 6}));
  EXPECT_TRUE(messages.empty() && bytes.empty());
}

}  // namespace
}  // namespace poise::objects
