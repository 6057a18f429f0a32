// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/offload/task_format.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace poise::tasks {
namespace {

constexpr std::size_t kLarge = 100;

std::unique_ptr<Task> task_with(std::span<const Item> items) {
  auto task = std::make_unique<Task>();
  task->function = 3;
  task->owner = 1;
  task->cost = 2.5;
  task->priority = -7;
  task->slot = 41;
  task->items.assign(items);
  return task;
}

// A task packed into a message, in memory that is allocated as in the transport.
struct Packed {
  explicit Packed(const Task& task, std::span<const std::optional<Spot>> spots = {}) {
    Writer writer;
    sent_bytes = write_task(writer, task, spots, kLarge, payloads);
    const auto bytes = writer.take();
    size = bytes.size();
    memory = new_bytes(size);
    std::ranges::copy(bytes, memory.get());
  }
  ArrivedTask read_by(std::uint32_t rank) const {
    Reader reader({memory.get(), size});
    return read_task(reader, rank, memory);
  }
  std::shared_ptr<std::byte> memory;
  std::size_t size = 0, sent_bytes = 0;
  std::vector<Payload> payloads;
};

TEST(TaskFormat, keeps_the_properties_of_a_task_that_the_borrower_needs) {
  const auto task = task_with({});
  task->has_parent = task->replicated = task->wants_collector = true;
  task->extras.make().name = 77;
  task->extras.make().annotations =
      std::make_shared<Annotations>(Annotations{{"cells", 120}, {"kind", "coast"}});
  const ArrivedTask arrived = Packed(*task).read_by(0);
  ASSERT_TRUE(arrived.task);
  EXPECT_EQ(arrived.task->function, 3u);
  EXPECT_EQ(arrived.task->owner, 1u);
  EXPECT_EQ(arrived.task->cost, 2.5);
  EXPECT_EQ(arrived.task->priority, -7);
  EXPECT_EQ(arrived.task->slot, 41u);
  EXPECT_TRUE(arrived.task->has_parent);
  EXPECT_TRUE(arrived.task->replicated);
  EXPECT_TRUE(arrived.task->wants_collector);
  EXPECT_EQ(arrived.task->extras->name, 77u);
  EXPECT_EQ(*arrived.task->extras->annotations->get<std::string>("kind"), "coast");
}

TEST(TaskFormat,
     small_arguments_are_aligned_inside_the_message_and_large_ones_are_sent_separately) {
  alignas(64) double small[3] = {1, 2, 3};
  char one = 'x';
  std::vector<std::byte> large(kLarge);
  const Item items[] = {Item::of(&one, 1, Mode::literal), Item::of(small, sizeof small, Mode::in),
                        Item::of(large.data(), large.size(), Mode::inout),
                        Item::of(nullptr, 8, Mode::in)};
  const Packed packed(*task_with(items));
  EXPECT_EQ(packed.sent_bytes, 1 + sizeof small + kLarge);
  ASSERT_EQ(packed.payloads.size(), 1u);
  EXPECT_EQ(packed.payloads[0].data, large.data());
  const ArrivedTask arrived = packed.read_by(0);
  const Items& read = arrived.task->items;
  ASSERT_EQ(read.size(), 4u);
  EXPECT_EQ(*static_cast<const char*>(read[0].data), 'x');
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(read[1].data) % 64, 0u);
  EXPECT_TRUE(std::equal(small, small + 3, static_cast<const double*>(read[1].data)));
  ASSERT_EQ(arrived.payloads.size(), 1u);
  EXPECT_EQ(arrived.payloads[0].data, read[2].data);
  EXPECT_EQ(arrived.payloads[0].bytes, kLarge);
  EXPECT_EQ(read[3].data, nullptr);
}

TEST(TaskFormat, sends_no_outputs_and_no_inputs_that_are_in_shared_memory) {
  double output[2] = {}, shared[50] = {};
  const Item items[] = {Item::of(output, sizeof output, Mode::out),
                        Item::of(shared, sizeof shared, Mode::inout),
                        Item::of(output, sizeof output, Mode::result)};
  const std::optional<Spot> spots[] = {{}, Spot{5, 4096}, {}};
  const Packed packed(*task_with(items), spots);
  EXPECT_EQ(packed.sent_bytes, 0u);
  EXPECT_TRUE(packed.payloads.empty());
  const ArrivedTask arrived = packed.read_by(0);
  EXPECT_TRUE(arrived.task->items[0].data) << "the borrower has memory for the output";
  ASSERT_EQ(arrived.in_place.size(), 1u);
  EXPECT_EQ(arrived.in_place[0].item, 1u);
  EXPECT_EQ(arrived.in_place[0].spot, (Spot{5, 4096}));
  EXPECT_EQ(arrived.task->items[2].data, &arrived.task->extras->result);
}

TEST(TaskFormat, a_task_sent_back_to_its_owner_is_encoded_as_its_slot_number_only) {
  double data[4] = {};
  const Item items[] = {Item::of(data, sizeof data, Mode::in)};
  Writer writer;
  write_returned_task(writer, *task_with(items));
  auto bytes = writer.take();
  Reader reader(bytes);
  const ArrivedTask arrived = read_task(reader, 1, nullptr);
  EXPECT_FALSE(arrived.task);
  EXPECT_EQ(arrived.slot, 41u);
}

}  // namespace
}  // namespace poise::tasks
