// The part of the exchange that packs lent tasks and unpacks borrowed ones.
#include <algorithm>

#include "runtimes/tasks/offload/engine.h"
#include "runtimes/tasks/transport/clock.h"
#include "runtimes/tasks/transport/copy.h"

namespace poise::tasks {

namespace {

// Of what a task's head says besides its number of items.
constexpr std::uint32_t kAnnotated = 1u << 31, kReplicated = 1u << 30, kNamed = 1u << 29;
constexpr std::uint8_t kModeBits = 7, kNull = 8, kLarge = 16, kInPlace = 32;  // of an item's flags

constexpr std::size_t kMostHeadBytes = std::size_t{1} << 30;

// What the sender's address was aligned to, so that it is again at the receiver's.
std::uint8_t alignment_of(const void* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data) | kAlignment;
  return static_cast<std::uint8_t>(address & (~address + 1));
}

struct TaskHead {
  std::uint64_t slot;
  double cost;
  std::uint32_t function, home;
  std::int32_t priority;
  std::uint32_t num_items;  // and the flags above
};

struct ItemHead {
  std::uint64_t bytes;
  std::uint8_t flags, alignment;
};

void put_annotations(Writer& head, const Annotations& annotations) {
  Buffer bytes;
  poise::Writer{bytes}(annotations);
  head.put(static_cast<std::uint64_t>(bytes.size()));
  head.put(bytes.data(), bytes.size(), 1);
}

std::shared_ptr<const Annotations> read_annotations(Reader& reader) {
  const auto size = reader.get<std::uint64_t>();
  auto annotations = std::make_shared<Annotations>();
  poise::Reader({reader.get(size, 1), size})(*annotations);
  return annotations;
}

}  // namespace

// Where the receiver finds an item without a message: where it is, if it is in memory that both
// see, or a copy there of what is long. A borrowed task's result goes straight home, so nobody
// could give back a copy made of it here.
std::optional<Arena::Spot> Exchange::spot_of(Task& task, std::size_t i, std::uint32_t to) {
  const Item& item = task.items[i];
  if (!arena_.shared_with(to) || item.mode == Mode::result || item.bytes == 0) return std::nullopt;
  if (const auto spot = arena_.find(item.data, item.bytes)) {
    counters_.bytes_in_place += item.goes_out() ? item.bytes : 0;
    return spot;
  }
  if (item.bytes < large_bytes_ || task.home != rank_) return std::nullopt;
  auto& copies = task.extras.make().copies;
  copies.resize(task.items.size());
  auto& copy = copies[i];
  if (!copy) {
    void* const data = arena_.try_allocate(item.bytes);
    if (!data) return std::nullopt;
    copy = {static_cast<std::byte*>(data),
            [this, bytes = item.bytes](std::byte* p) { arena_.deallocate(p, bytes, kAlignment); }};
    if (item.goes_out()) {
      copy_past_caches(copy.get(), item.data, item.bytes);
      counters_.bytes_copied += item.bytes;
    }
  }
  return arena_.find(copy.get(), item.bytes);
}

// What is large, and what would make the head longer than MPI counts.
bool Exchange::goes_on_its_own(std::size_t bytes, const Writer& head) const {
  return bytes >= large_bytes_ || (bytes > 0 && head.size() + bytes > kMostHeadBytes);
}

void Exchange::write_task(Writer& head, Task& task, std::uint32_t to, std::vector<Large>& larges) {
  const bool going_home = task.home == to;
  const auto num_items = going_home ? 0 : static_cast<std::uint32_t>(task.items.size());
  const auto& annotations = task.extras->annotations;
  const bool annotated = annotations && !going_home;
  const std::uint64_t name = going_home ? 0 : task.extras->name;
  head.put(TaskHead{task.slot, task.cost, task.function, task.home, task.priority,
                    num_items | (annotated ? kAnnotated : 0u) |
                        (task.replicated ? kReplicated : 0u) | (name != 0 ? kNamed : 0u)});
  if (going_home) return;
  if (name != 0) head.put(name);
  if (annotated) put_annotations(head, *annotations);
  for (std::size_t i = 0; i < task.items.size(); ++i) {
    const Item& item = task.items[i];
    const auto spot = item.data ? spot_of(task, i, to) : std::nullopt;
    const bool large = !spot && item.data && item.goes_out() && goes_on_its_own(item.bytes, head);
    const auto flags =
        static_cast<std::uint8_t>(static_cast<unsigned>(item.mode) | (item.data ? 0u : kNull) |
                                  (large ? kLarge : 0u) | (spot ? kInPlace : 0u));
    const std::uint8_t alignment = alignment_of(item.data);
    head.put(ItemHead{item.bytes, flags, alignment});
    if (spot) head.put(*spot);
    if (spot || !item.data || !item.goes_out()) continue;
    counters_.bytes_sent += item.bytes;
    if (large)
      larges.push_back({item.data, item.bytes});
    else
      head.put(item.data, item.bytes, alignment);
  }
}

void Exchange::handle_tasks(const Post::Arrival& arrival, Reader& reader, std::uint32_t from) {
  const double begin_s = clock_s();
  const auto num_tasks = reader.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < num_tasks; ++i)
    read_task(arrival, reader, from, [this, from](std::unique_ptr<Task> task) {
      ++peers_[from].borrowed;
      workplace_.accept_borrowed(std::move(task));
    });
  counters_.transfer_s += clock_s() - begin_s;
}

// `then` gets the task when all its items are there.
void Exchange::read_task(const Post::Arrival& arrival, Reader& reader, std::uint32_t from,
                         std::function<void(std::unique_ptr<Task>)> then) {
  const auto head = reader.get<TaskHead>();
  if (head.home == rank_) {
    ++peers_[from].borrowed;
    auto task = take_away(head.slot);
    task->forget_copies();
    workplace_.take_back(std::move(task));
    return;
  }
  auto task = std::make_unique<Task>();
  task->slot = head.slot;
  task->cost = head.cost;
  task->function = head.function;
  task->home = head.home;
  task->priority = head.priority;
  if (head.num_items & kNamed) task->extras.make().name = reader.get<std::uint64_t>();
  if (head.num_items & kAnnotated) task->extras.make().annotations = read_annotations(reader);
  task->replicated = head.num_items & kReplicated;
  read_items(arrival, reader, from, std::move(task),
             head.num_items & ~(kAnnotated | kReplicated | kNamed), std::move(then));
}

void Exchange::read_items(const Post::Arrival& arrival, Reader& reader, std::uint32_t from,
                          std::unique_ptr<Task> task, std::uint32_t num_items,
                          std::function<void(std::unique_ptr<Task>)> then) {
  Extras& extras = task->extras.make();
  extras.message = arrival.head;
  Item* const items = task->items.resize(num_items);
  std::size_t storage = 0;  // of items that are not in the head; offsets first, pointers later
  std::vector<std::size_t> stored;
  std::vector<bool> larges;
  for (std::uint32_t i = 0; i < num_items; ++i) {
    const auto item_head = reader.get<ItemHead>();
    Item item{nullptr, item_head.bytes, static_cast<Mode>(item_head.flags & kModeBits)};
    const bool null = item_head.flags & kNull, large = item_head.flags & kLarge;
    if (item.mode == Mode::result) {
      if (arena_.shared_with(task->home)) extras.result = Buffer(&arena_);
      item.data = &extras.result;
    } else if (item_head.flags & kInPlace)
      item.data = arena_.at(reader.get<Arena::Spot>());
    else if (!null && !large && item.goes_out())
      item.data = reader.get(item.bytes, item_head.alignment);
    else if (!null) {
      stored.push_back(i);
      larges.push_back(large);
      storage += aligned(item.bytes);
    }
    items[i] = item;
  }
  std::vector<Large> fetched;
  if (!stored.empty()) {
    extras.storage = new_bytes(storage);
    std::byte* next = extras.storage.get();
    for (std::size_t k = 0; k < stored.size(); ++k) {
      Item& item = items[stored[k]];
      item.data = next;
      next += aligned(item.bytes);
      if (larges[k]) fetched.push_back({item.data, item.bytes});
    }
  }
  if (fetched.empty()) return then(std::move(task));
  double bytes = 0;
  for (const Large& large : fetched) bytes += static_cast<double>(large.bytes);
  const double begin_s = clock_s();
  const auto shared = std::make_shared<std::unique_ptr<Task>>(std::move(task));
  post_.fetch(arrival, fetched, [this, shared, bytes, begin_s, from, then = std::move(then)] {
    const double byte_s = (clock_s() - begin_s) / bytes;
    ways_.learn(peers_[from].at, [&](Way& way) { way.seconds_per_byte.learn(byte_s); });
    then(std::move(*shared));
  });
}

}  // namespace poise::tasks
