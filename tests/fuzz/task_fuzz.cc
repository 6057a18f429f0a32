// SPDX-License-Identifier: BSD-3-Clause
// Makes tasks from the input, writes them into one message, reads the message, and compares.
// A rank trusts the messages of other ranks of its job, so the reader is not tested with damaged
// messages.
#include <algorithm>
#include <cstring>

#include "runtimes/tasks/offload/task_format.h"
#include "tests/fuzz/target.h"

#include "poise/base/check.h"

namespace {

using namespace poise::tasks;

constexpr std::uint32_t kSelf = 2;

struct Input {
  const std::uint8_t* data;
  std::size_t size;
  std::uint8_t next() {
    if (size == 0) return 0;
    --size;
    return *data++;
  }
};

struct Made {
  Task task;
  std::vector<std::optional<Spot>> spots;
  std::vector<std::shared_ptr<std::byte>> memory;
};

Item item_of(Input& input, Made& made) {
  const auto mode = static_cast<Mode>(input.next() % 5);
  const std::size_t bytes = input.next() * (1 + input.next() % 4), offset = input.next() % 64;
  if (input.next() % 8 == 0) return Item::of(nullptr, bytes, mode);
  auto memory = new_bytes(offset + bytes);
  std::byte* const data = memory.get() + offset;
  std::memset(data, input.next(), bytes);
  made.memory.push_back(std::move(memory));
  return Item::of(data, bytes, mode);
}

void make(Input& input, Made& made) {
  Task& task = made.task;
  task.function = input.next();
  task.owner = input.next() % 4;
  task.cost = input.next();
  task.priority = input.next() - 100;
  task.slot = input.next();
  task.has_parent = input.next() % 2;
  task.replicated = input.next() % 2;
  if (const std::uint8_t name = input.next()) task.extras.make().name = name;
  if (const int values = input.next() % 4) {
    poise::Annotations annotations;
    for (int i = 0; i < values; ++i)
      annotations.set(std::string(input.next() % 20, 'a'), std::int64_t{input.next()});
    task.extras.make().annotations = std::make_shared<poise::Annotations>(annotations);
  }
  std::vector<Item> items(input.next() % 10);
  for (Item& item : items) {
    item = item_of(input, made);
    const bool is_shared = item.data && item.mode != Mode::result && input.next() % 4 == 0;
    made.spots.push_back(is_shared ? std::optional(Spot{input.next(), input.next()})
                                   : std::nullopt);
  }
  task.items.assign(items);
}

// Copies the payloads, like a receiver that shares no memory with the sender.
void receive(ArrivedTask& arrived, const std::vector<Payload>& sent, std::size_t& next) {
  for (const Payload& into : arrived.payloads) {
    POISE_CHECK(next < sent.size() && sent[next].bytes == into.bytes);
    std::memcpy(into.data, sent[next++].data, into.bytes);
  }
}

void compare_item(const Item& made, const Item& read, bool is_shared) {
  POISE_CHECK(read.bytes == made.bytes && read.mode == made.mode);
  if (is_shared) {
    POISE_CHECK(!read.data);
    return;
  }
  if (made.mode == Mode::result) return;
  POISE_CHECK((read.data != nullptr) == (made.data != nullptr));
  if (!made.data || !made.goes_out()) return;
  POISE_CHECK(std::memcmp(read.data, made.data, made.bytes) == 0);
}

void compare(const Made& made, const ArrivedTask& arrived) {
  const Task& task = made.task;
  POISE_CHECK(arrived.slot == task.slot && !arrived.task == (task.owner == kSelf));
  if (!arrived.task) return;
  const Task& read = *arrived.task;
  POISE_CHECK(read.function == task.function && read.owner == task.owner);
  POISE_CHECK(read.cost == task.cost && read.priority == task.priority && read.slot == task.slot);
  POISE_CHECK(read.has_parent == task.has_parent && read.replicated == task.replicated);
  POISE_CHECK(read.extras->name == task.extras->name);
  POISE_CHECK(!read.extras->annotations == !task.extras->annotations);
  POISE_CHECK(read.items.size() == task.items.size());
  auto in_place = arrived.in_place.begin();
  for (std::size_t i = 0; i < task.items.size(); ++i) {
    const auto& spot = made.spots[i];
    compare_item(task.items[i], read.items[i], spot.has_value());
    if (!spot) continue;
    POISE_CHECK(in_place != arrived.in_place.end() && in_place->item == i);
    POISE_CHECK(in_place++->spot == *spot);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input{data, size};
  const std::size_t large_bytes = 1 + input.next();
  std::vector<Made> tasks(1 + input.next() % 4);
  Writer writer;
  std::vector<Payload> payloads;
  for (Made& made : tasks) {
    make(input, made);
    if (made.task.owner == kSelf)
      write_returned_task(writer, made.task);
    else
      write_task(writer, made.task, made.spots, large_bytes, payloads);
  }
  const auto bytes = writer.take();
  const auto message = new_bytes(bytes.size());
  std::ranges::copy(bytes, message.get());
  Reader reader({message.get(), bytes.size()});
  std::size_t next_payload = 0;
  for (const Made& made : tasks) {
    ArrivedTask arrived = read_task(reader, kSelf, message);
    receive(arrived, payloads, next_payload);
    compare(made, arrived);
  }
  POISE_CHECK(next_payload == payloads.size());
  return 0;
}
