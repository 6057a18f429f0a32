// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/offload/codec.h"

#include <algorithm>

#include "runtimes/tasks/transport/copy.h"
#include "runtimes/tasks/tuning.h"

#include "poise/base/clock.h"

namespace poise::tasks {

namespace {

// Flags of a task, stored in the upper bits of TaskHeader::num_items.
constexpr std::uint32_t kAnnotated = 1u << 31, kReplicated = 1u << 30, kNamed = 1u << 29,
                        kHasParent = 1u << 28;
constexpr std::uint32_t kTaskFlags = kAnnotated | kReplicated | kNamed | kHasParent;
// The flags of an item. The three lowest bits hold its Mode; every other bit is a flag of its own.
constexpr std::uint8_t kModeBits = 7, kNull = 8, kHasPayload = 16, kInPlace = 32;

// Returns the alignment of an item's address. The receiver gives its copy the same alignment.
std::uint8_t alignment_of(const void* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data) | kAlignment;
  return static_cast<std::uint8_t>(address & (~address + 1));
}

struct TaskHeader {
  std::uint64_t slot;
  double cost;
  std::uint32_t function, owner;
  std::int32_t priority;
  std::uint32_t num_items;  // number of items, and the flags above
};

struct ItemHeader {
  std::uint64_t bytes;
  std::uint8_t flags, alignment;
};

void put_annotations(Writer& header, const Annotations& annotations) {
  Buffer bytes;
  poise::Writer{bytes}(annotations);
  header.put(bytes.size());
  header.put(bytes.data(), bytes.size(), 1);
}

std::shared_ptr<const Annotations> read_annotations(Reader& reader) {
  const auto size = reader.get<std::uint64_t>();
  auto annotations = std::make_shared<Annotations>();
  poise::Reader({reader.get(size, 1), size})(*annotations);
  return annotations;
}

}  // namespace

// Returns where in shared memory the receiver can read an item, or nothing if it cannot. If a large
// item of this rank's own task is not in shared memory, it is copied there. Items of borrowed tasks
// are not copied when these tasks are lent on: the results go straight to the owner, so nothing on
// this rank would free the copies.
std::optional<Arena::Spot> TaskCodec::spot_of(Task& task, std::size_t i, std::uint32_t to) {
  const Item& item = task.items[i];
  if (!messenger_.arena.shared_with(to) || item.mode == Mode::result || item.bytes == 0)
    return std::nullopt;
  if (const auto spot = messenger_.arena.find(item.data, item.bytes)) {
    messenger_.counters.bytes_in_place += item.goes_out() ? item.bytes : 0;
    return spot;
  }
  if (item.bytes < messenger_.large_bytes || task.owner != messenger_.rank) return std::nullopt;
  auto& copies = task.extras.make().copies;
  copies.resize(task.items.size());
  auto& copy = copies[i];
  if (!copy) {
    void* const data = messenger_.arena.try_allocate(item.bytes);
    if (!data) return std::nullopt;
    copy = {static_cast<std::byte*>(data), [this, bytes = item.bytes](std::byte* p) {
              messenger_.arena.deallocate(p, bytes, kAlignment);
            }};
    if (item.goes_out()) {
      copy_past_caches(copy.get(), item.data, item.bytes);
      messenger_.counters.bytes_copied += item.bytes;
    }
  }
  return messenger_.arena.find(copy.get(), item.bytes);
}

void TaskCodec::write(Writer& header, Task& task, std::uint32_t to,
                      std::vector<Payload>& payloads) {
  const bool to_owner = task.owner == to;
  const auto num_items = to_owner ? 0 : static_cast<std::uint32_t>(task.items.size());
  const auto& annotations = task.extras->annotations;
  const bool annotated = annotations && !to_owner;
  const std::uint64_t name = to_owner ? 0 : task.extras->name;
  header.put(TaskHeader{task.slot, task.cost, task.function, task.owner, task.priority,
                        num_items | (annotated ? kAnnotated : 0u) |
                            (task.replicated ? kReplicated : 0u) | (name != 0 ? kNamed : 0u) |
                            (task.has_parent ? kHasParent : 0u)});
  if (to_owner) return;
  if (name != 0) header.put(name);
  if (annotated) put_annotations(header, *annotations);
  for (std::size_t i = 0; i < task.items.size(); ++i) {
    const Item& item = task.items[i];
    const auto spot = item.data ? spot_of(task, i, to) : std::nullopt;
    const bool payload =
        !spot && item.data && item.goes_out() && messenger_.is_sent_as_payload(item.bytes, header);
    const auto flags =
        static_cast<std::uint8_t>(static_cast<unsigned>(item.mode) | (item.data ? 0u : kNull) |
                                  (payload ? kHasPayload : 0u) | (spot ? kInPlace : 0u));
    const std::uint8_t alignment = alignment_of(item.data);
    header.put(ItemHeader{item.bytes, flags, alignment});
    if (spot) header.put(*spot);
    if (spot || !item.data || !item.goes_out()) continue;
    messenger_.counters.bytes_sent += item.bytes;
    if (payload)
      payloads.push_back({item.data, item.bytes});
    else
      header.put(item.data, item.bytes, alignment);
  }
}

void TaskCodec::read(Message& message, std::function<void(std::unique_ptr<Task>)> then) {
  Reader& reader = message.reader;
  const auto header = reader.get<TaskHeader>();
  if (header.owner == messenger_.rank) {
    messenger_.agent.received(message.from, 1);
    auto task = lent_.take(header.slot);
    task->forget_copies();
    messenger_.pool.take_back(std::move(task));
    return;
  }
  auto task = std::make_unique<Task>();
  task->slot = header.slot;
  task->cost = header.cost;
  task->function = header.function;
  task->owner = header.owner;
  task->priority = header.priority;
  if (header.num_items & kNamed) task->extras.make().name = reader.get<std::uint64_t>();
  if (header.num_items & kAnnotated) task->extras.make().annotations = read_annotations(reader);
  task->replicated = header.num_items & kReplicated;
  task->has_parent = header.num_items & kHasParent;
  read_items(message, std::move(task), header.num_items & ~kTaskFlags, std::move(then));
}

void TaskCodec::read_items(Message& message, std::unique_ptr<Task> task, std::uint32_t num_items,
                           std::function<void(std::unique_ptr<Task>)> then) {
  Reader& reader = message.reader;
  Extras& extras = task->extras.make();
  extras.message = message.arrival.header;
  Item* const items = task->items.resize(num_items);
  std::size_t storage = 0;  // bytes of items that are not stored in the header
  std::vector<std::size_t> stored;
  std::vector<bool> payloads;
  for (std::uint32_t i = 0; i < num_items; ++i) {
    const auto item_header = reader.get<ItemHeader>();
    Item item{nullptr, item_header.bytes, static_cast<Mode>(item_header.flags & kModeBits)};
    const bool null = item_header.flags & kNull, payload = item_header.flags & kHasPayload;
    if (item.mode == Mode::result) {
      if (messenger_.arena.shared_with(task->owner)) extras.result = Buffer(&messenger_.arena);
      item.data = &extras.result;
    } else if (item_header.flags & kInPlace)
      item.data = messenger_.arena.at(reader.get<Arena::Spot>());
    else if (!null && !payload && item.goes_out())
      item.data = reader.get(item.bytes, item_header.alignment);
    else if (!null) {
      stored.push_back(i);
      payloads.push_back(payload);
      storage += aligned(item.bytes);
    }
    items[i] = item;
  }
  std::vector<Payload> fetched;
  if (!stored.empty()) {
    extras.storage = new_bytes(storage);
    std::byte* next = extras.storage.get();
    for (std::size_t k = 0; k < stored.size(); ++k) {
      Item& item = items[stored[k]];
      item.data = next;
      next += aligned(item.bytes);
      if (payloads[k]) fetched.push_back({item.data, item.bytes});
    }
  }
  if (fetched.empty()) return then(std::move(task));
  double bytes = 0;
  for (const Payload& payload : fetched) bytes += payload.bytes;
  const double begin_s = wall_now_s();
  const auto shared = std::make_shared<std::unique_ptr<Task>>(std::move(task));
  messenger_.transport.fetch(
      message.arrival, fetched,
      [this, shared, bytes, begin_s, from = message.from, then = std::move(then)] {
        messenger_.agent.learn_byte_s(from, (wall_now_s() - begin_s) / bytes);
        then(std::move(*shared));
      });
}

}  // namespace poise::tasks
