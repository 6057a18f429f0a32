// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/offload/task_format.h"

#include <limits>
#include <utility>

#include "runtimes/archive/archive.h"

namespace poise::tasks {

namespace {

// Flags of a task, stored in the upper bits of TaskHeader::num_items.
constexpr std::uint32_t kAnnotated = 1u << 31, kReplicated = 1u << 30, kNamed = 1u << 29,
                        kHasParent = 1u << 28, kWantsCollector = 1u << 27;
constexpr std::uint32_t kTaskFlags =
    kAnnotated | kReplicated | kNamed | kHasParent | kWantsCollector;
// The flags of a data item. The three lowest bits hold its Mode; every other bit is a flag.
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

void put_header(Writer& header, const Task& task, std::uint32_t num_items_and_flags) {
  header.put(TaskHeader{task.slot, task.cost, task.function, task.owner, task.priority,
                        num_items_and_flags});
}

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

// Appends an item. Returns how many bytes of its data travel in the message or in payloads.
std::size_t write_item(Writer& header, const Item& item, const std::optional<Spot>& spot,
                       std::size_t large_bytes, std::vector<Payload>& payloads) {
  const bool travels = !spot && item.data && item.goes_out();
  const bool payload = travels && travels_as_payload(item.bytes, header.size(), large_bytes);
  const auto flags =
      static_cast<std::uint8_t>(static_cast<unsigned>(item.mode) | (item.data ? 0u : kNull) |
                                (payload ? kHasPayload : 0u) | (spot ? kInPlace : 0u));
  const std::uint8_t alignment = alignment_of(item.data);
  header.put(ItemHeader{item.bytes, flags, alignment});
  if (spot) header.put(*spot);
  if (!travels) return 0;
  if (payload)
    payloads.push_back({item.data, item.bytes});
  else
    header.put(item.data, item.bytes, alignment);
  return item.bytes;
}

// Allocates memory for those items of a task that are neither in the message nor in shared memory.
struct Stored {
  std::size_t item;
  bool has_payload;
};
void give_memory(Task& task, std::span<const Stored> stored, std::vector<Payload>& payloads) {
  if (stored.empty()) return;
  std::size_t bytes = 0;
  for (const Stored& one : stored) bytes += aligned(task.items[one.item].bytes);
  task.extras.make().storage = new_bytes(bytes);
  std::byte* next = task.extras->storage.get();
  for (const auto& [index, has_payload] : stored) {
    Item& item = task.items[index];
    item.data = next;
    next += aligned(item.bytes);
    if (has_payload) payloads.push_back({item.data, item.bytes});
  }
}

void read_items(Reader& reader, ArrivedTask& arrived, std::uint32_t num_items) {
  Task& task = *arrived.task;
  Item* const items = task.items.resize(num_items);
  std::vector<Stored> stored;
  for (std::uint32_t i = 0; i < num_items; ++i) {
    const auto header = reader.get<ItemHeader>();
    Item& item = items[i] = {nullptr, header.bytes, static_cast<Mode>(header.flags & kModeBits)};
    const bool has_payload = header.flags & kHasPayload;
    if (item.mode == Mode::result)
      item.data = &task.extras.make().result;
    else if (header.flags & kInPlace)
      arrived.in_place.push_back({i, reader.get<Spot>()});
    else if (header.flags & kNull)
      continue;
    else if (!has_payload && item.goes_out())
      item.data = reader.get(item.bytes, header.alignment);
    else
      stored.push_back({i, has_payload});
  }
  give_memory(task, stored, arrived.payloads);
}

}  // namespace

bool travels_as_payload(std::size_t bytes, std::size_t header_bytes, std::size_t large_bytes) {
  // MPI counts the bytes of a message in an int. This limit, half of the maximum int, leaves room
  // for the headers of further items.
  constexpr std::size_t kMaxHeaderBytes = std::numeric_limits<int>::max() / 2;
  return bytes >= large_bytes || (bytes > 0 && header_bytes + bytes > kMaxHeaderBytes);
}

std::size_t write_task(Writer& header, const Task& task, std::span<const std::optional<Spot>> spots,
                       std::size_t large_bytes, std::vector<Payload>& payloads) {
  const auto& annotations = task.extras->annotations;
  const std::uint64_t name = task.extras->name;
  put_header(header, task,
             static_cast<std::uint32_t>(task.items.size()) | (annotations ? kAnnotated : 0u) |
                 (task.replicated ? kReplicated : 0u) | (name != 0 ? kNamed : 0u) |
                 (task.has_parent ? kHasParent : 0u) |
                 (task.wants_collector ? kWantsCollector : 0u));
  if (name != 0) header.put(name);
  if (annotations) put_annotations(header, *annotations);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < task.items.size(); ++i)
    bytes += write_item(header, task.items[i], i < spots.size() ? spots[i] : std::nullopt,
                        large_bytes, payloads);
  return bytes;
}

void write_returned_task(Writer& header, const Task& task) { put_header(header, task, 0); }

ArrivedTask read_task(Reader& reader, std::uint32_t self, std::shared_ptr<std::byte> message) {
  const auto header = reader.get<TaskHeader>();
  ArrivedTask arrived;
  arrived.slot = header.slot;
  if (header.owner == self) return arrived;
  arrived.task = std::make_unique<Task>();
  Task& task = *arrived.task;
  task.slot = header.slot;
  task.cost = header.cost;
  task.function = header.function;
  task.owner = header.owner;
  task.priority = header.priority;
  if (header.num_items & kNamed) task.extras.make().name = reader.get<std::uint64_t>();
  if (header.num_items & kAnnotated) task.extras.make().annotations = read_annotations(reader);
  task.replicated = header.num_items & kReplicated;
  task.has_parent = header.num_items & kHasParent;
  task.wants_collector = header.num_items & kWantsCollector;
  task.extras.make().message = std::move(message);
  read_items(reader, arrived, header.num_items & ~kTaskFlags);
  return arrived;
}

}  // namespace poise::tasks
