#include "runtimes/charm/convert.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "poise/base/error.h"
#include "poise/base/random.h"

namespace poise::charm {

namespace {

constexpr int kDigitBits = 11;

bool same(const ObjectName& a, const ObjectName& b) { return a.id == b.id && a.array == b.array; }

bool comes_before(const ObjectName& a, const ObjectName& b) {
  return a.array != b.array ? a.array < b.array : a.id < b.id;
}

/// The bits in which names differ, pushed together: numbers in the order of the names.
class Keys {
 public:
  explicit Keys(const std::vector<ObjectRow>& objects) {
    std::uint64_t ids = 0, arrays = 0;
    for (const ObjectRow& object : objects) {
      ids |= object.name.id ^ objects[0].name.id;
      arrays |= bits_of(object.name.array) ^ bits_of(objects[0].name.array);
    }
    add_runs(ids, id_runs_);
    add_runs(arrays, array_runs_);
  }

  int num_bits() const { return num_bits_; }

  std::uint32_t operator()(const ObjectName& name) const {
    std::uint64_t key = 0;
    for (const Run& run : id_runs_) key |= ((name.id >> run.from) & run.mask) << run.to;
    for (const Run& run : array_runs_)
      key |= ((bits_of(name.array) >> run.from) & run.mask) << run.to;
    return static_cast<std::uint32_t>(key);
  }

 private:
  struct Run {
    int from, to;
    std::uint64_t mask;
  };

  static std::uint64_t bits_of(std::int32_t array) {
    return static_cast<std::uint32_t>(array) ^ 0x80000000u;
  }

  void add_runs(std::uint64_t bits, std::vector<Run>& runs) {
    for (int from = 0; from < 64 && bits >> from != 0;) {
      from += std::countr_zero(bits >> from);
      const int length = std::countr_one(bits >> from);
      const std::uint64_t mask =
          length == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << length) - 1;
      if (num_bits_ + length <= 32) runs.push_back({from, num_bits_, mask});
      num_bits_ += length;
      from += length;
    }
  }

  std::vector<Run> id_runs_, array_runs_;
  int num_bits_ = 0;  // above 32 there are no keys
};

struct Item {
  std::uint32_t key, row;
};

/// Stable, by key, in as few passes as its bits allow.
std::vector<Item> sorted_items(const std::vector<ObjectRow>& objects, const Keys& keys) {
  std::vector<Item> items(objects.size()), sorted(objects.size());
  for (std::uint32_t row = 0; row < items.size(); ++row)
    items[row] = {keys(objects[row].name), row};
  const int passes = (keys.num_bits() + kDigitBits - 1) / kDigitBits;
  const int bits = passes == 0 ? 0 : (keys.num_bits() + passes - 1) / passes;
  const std::uint32_t mask = (1u << bits) - 1;
  for (int pass = 0; pass < passes; ++pass) {
    const int shift = pass * bits;
    std::array<std::uint32_t, 1u << kDigitBits> start{};
    for (const Item& item : items) ++start[(item.key >> shift) & mask];
    std::uint32_t sum = 0;
    for (std::uint32_t& count : start) sum += std::exchange(count, sum);
    for (const Item& item : items) sorted[start[(item.key >> shift) & mask]++] = item;
    items.swap(sorted);
  }
  return items;
}

/// The rows in order of array, then number.
std::vector<std::uint32_t> rows_by_name(const std::vector<ObjectRow>& objects) {
  std::vector<std::uint32_t> rows(objects.size());
  const auto refuse = [&](std::uint32_t row) {
    fail("object {} of array {} is there twice", objects[row].name.id, objects[row].name.array);
  };
  const Keys keys(objects);
  if (keys.num_bits() <= 32) {
    const std::vector<Item> items = sorted_items(objects, keys);
    for (std::size_t i = 0; i < items.size(); ++i) {
      rows[i] = items[i].row;
      if (i > 0 && items[i].key == items[i - 1].key) refuse(items[i].row);
    }
    return rows;
  }
  std::iota(rows.begin(), rows.end(), 0);
  std::sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return comes_before(objects[a].name, objects[b].name);
  });
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (same(objects[rows[i]].name, objects[rows[i - 1]].name)) refuse(rows[i]);
  return rows;
}

/// The task of an object's name: a hash table, linearly probed.
class Directory {
 public:
  static constexpr TaskId kUnknown = ~TaskId{0};

  Directory(const std::vector<ObjectRow>& objects, const std::vector<std::uint32_t>& row_of_task)
      : slots_(std::bit_ceil(2 * objects.size() + 1)) {
    for (TaskId t = 0; t < row_of_task.size(); ++t) {
      const ObjectName& name = objects[row_of_task[t]].name;
      std::size_t at = home_of(name);
      while (slots_[at].task != kUnknown) at = next(at);
      slots_[at] = {name, t};
    }
  }

  TaskId operator[](const ObjectName& name) const {
    std::size_t at = home_of(name);
    while (slots_[at].task != kUnknown && !same(slots_[at].name, name)) at = next(at);
    return slots_[at].task;
  }

 private:
  struct Slot {
    ObjectName name;
    TaskId task = kUnknown;
  };
  std::size_t home_of(const ObjectName& name) const {
    return mix(name.id + (std::uint64_t{static_cast<std::uint32_t>(name.array)} << 40)) &
           (slots_.size() - 1);
  }
  std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
  std::vector<Slot> slots_;
};

/// A PE that sends is numbered behind the objects, by its row, until the tasks for it are known.
std::vector<Message> resolved(const Statistics& statistics, const Seating& seating,
                              const std::vector<std::uint32_t>& row_of_task) {
  const Directory directory(statistics.objects, row_of_task);
  const auto num_objects = static_cast<TaskId>(row_of_task.size());
  std::vector<Message> messages;
  messages.reserve(statistics.messages.size());
  for (const MessageRow& row : statistics.messages) {
    if (row.from_pe >= static_cast<std::int64_t>(statistics.pes.size()) || row.from_pe < -1)
      fail("PE {} sends; there are {}", row.from_pe, statistics.pes.size());
    if (std::uint64_t{row.first_receiver} + row.num_receivers > statistics.receivers.size())
      fail("a multicast has receivers {} to {}; there are {}", row.first_receiver,
           std::uint64_t{row.first_receiver} + row.num_receivers, statistics.receivers.size());
    const bool from_object = row.from_pe == -1;
    if (!from_object && seating.place_of_pe[static_cast<std::size_t>(row.from_pe)] == kNoPlace)
      continue;
    const TaskId from =
        from_object ? directory[row.from] : num_objects + static_cast<TaskId>(row.from_pe);
    if (from == Directory::kUnknown) continue;
    const auto add = [&](const ObjectName& to) {
      const TaskId task = directory[to];
      if (task != Directory::kUnknown) messages.push_back({from, task, row.messages, row.bytes});
    };
    if (row.num_receivers == 0) add(row.to);
    for (std::uint32_t i = 0; i < row.num_receivers; ++i)
      add(statistics.receivers[row.first_receiver + i]);
  }
  return messages;
}

/// A pinned task for each PE that sends, in order of PE.
void add_senders(const Seating& seating, Workload& workload, std::vector<PlaceId>& places) {
  const TaskId num_objects = workload.num_tasks();
  std::vector<TaskId> task_of_pe(seating.place_of_pe.size(), 0);
  for (const Message& message : workload.messages)
    if (message.from >= num_objects) task_of_pe[message.from - num_objects] = 1;
  for (std::size_t pe = 0; pe < task_of_pe.size(); ++pe) {
    if (task_of_pe[pe] == 0) continue;
    task_of_pe[pe] = workload.num_tasks();
    workload.tasks.push_back({0, 0, false});
    places.push_back(seating.place_of_pe[pe]);
  }
  for (Message& message : workload.messages)
    if (message.from >= num_objects) message.from = task_of_pe[message.from - num_objects];
}

}  // namespace

Converted converted(const Statistics& statistics, const Seating& seating,
                    std::span<const double> speed_of_place, Messages messages) {
  if (seating.pe_of_place.empty()) fail("no PE is available");
  const auto num_places = static_cast<std::uint32_t>(seating.pe_of_place.size());
  Converted result;
  result.row_of_task = rows_by_name(statistics.objects);
  Workload& workload = result.census.workload;
  std::vector<PlaceId> places;
  workload.tasks.resize(result.row_of_task.size());
  places.resize(result.row_of_task.size());
  for (TaskId t = 0; t < places.size(); ++t) {
    const ObjectRow& object = statistics.objects[result.row_of_task[t]];
    if (object.pe < 0 || static_cast<std::size_t>(object.pe) >= seating.place_of_pe.size())
      fail("object {} of array {} is on PE {}; there are {}", object.name.id, object.name.array,
           object.pe, seating.place_of_pe.size());
    if (!(object.wall_s >= 0) || !std::isfinite(object.wall_s))
      fail("object {} of array {} took {} s", object.name.id, object.name.array, object.wall_s);
    const PlaceId place = seating.place_of_pe[static_cast<std::size_t>(object.pe)];
    if (place != kNoPlace) {
      workload.tasks[t] = {object.wall_s * speed_of_place[place], object.bytes, object.movable};
      places[t] = place;
    } else {  // it must go; unless it cannot: then it is nobody's load
      workload.tasks[t] = {object.movable ? object.wall_s : 0, object.bytes, object.movable};
      places[t] = t % num_places;
    }
  }
  for (const std::uint32_t pe : seating.pe_of_place) {
    const double background_s = statistics.pes[pe].background_s;
    if (!std::isfinite(background_s)) fail("PE {} was busy for {} s", pe, background_s);
    workload.background_s.push_back(std::max(0.0, background_s));
  }
  if (messages == Messages::convert) {
    workload.messages = resolved(statistics, seating, result.row_of_task);
    add_senders(seating, workload, places);
  }
  result.census.current = Placement(std::move(places));
  return result;
}

std::vector<std::int32_t> pes_of(const Placement& placement,
                                 const std::vector<std::uint32_t>& row_of_task,
                                 const Statistics& statistics, const Seating& seating) {
  std::vector<std::int32_t> pes(statistics.objects.size());
  for (TaskId t = 0; t < row_of_task.size(); ++t)
    pes[row_of_task[t]] = static_cast<std::int32_t>(seating.pe_of_place[placement.of(t)]);
  if (seating.pe_of_place.size() == seating.place_of_pe.size()) return pes;
  for (std::size_t row = 0; row < pes.size(); ++row)  // what cannot leave a PE that is gone
    if (!statistics.objects[row].movable) pes[row] = statistics.objects[row].pe;
  return pes;
}

}  // namespace poise::charm
