// SPDX-License-Identifier: BSD-3-Clause
// Reads the native format. Every count is checked against the remaining bytes before memory is
// allocated, and every error gives the byte offset.
#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "poise/base/error.h"
#include "poise/machine/json.h"
#include "poise/machine/limits.h"
#include "poise/trace/crc32.h"
#include "poise/trace/cursor.h"
#include "poise/trace/native.h"

namespace poise::native {

namespace {

constexpr std::uint32_t kVersion = 1;

struct Column {
  std::string_view name;
  Cursor data;
};

/// The columns of a phase by name.
class Columns {
 public:
  explicit Columns(Cursor& payload) {
    while (payload.remaining() != 0) {
      const std::string_view name = payload.take(payload.varint());
      if (find(name)) payload.fail_here("the column \"{}\" comes twice", name);
      const std::uint64_t size = payload.varint();
      const std::uint64_t offset = payload.offset();
      columns_.push_back({name, Cursor(payload.file(), payload.take(size), offset)});
    }
  }

  std::optional<Cursor> find(std::string_view name) const {
    for (const Column& column : columns_)
      if (column.name == name) return column.data;
    return std::nullopt;
  }

  /// Returns false if the column does not exist. Otherwise checks that it can hold `count` items of
  /// at least `min_size` bytes, calls reserve(), calls read_item(cursor, i) for i = 0 to count - 1,
  /// and returns true.
  template <typename Reserve, typename Read>
  bool read(std::string_view name, std::uint64_t count, std::size_t min_size,
            const Reserve& reserve, const Read& read_item) const {
    std::optional<Cursor> data = find(name);
    if (!data) return false;
    if (count > data->remaining() / min_size)
      data->fail_here("the column \"{}\" has {} bytes for {} items", name, data->remaining(),
                      count);
    reserve();
    for (std::uint64_t i = 0; i < count; ++i) read_item(*data, i);
    if (data->remaining() != 0)
      data->fail_here("the column \"{}\" has {} more bytes after its {} items", name,
                      data->remaining(), count);
    return true;
  }

  /// Reads a column into a vector.
  template <typename Item, typename Read>
  bool read_into(std::vector<Item>& items, std::string_view name, std::uint64_t count,
                 std::size_t min_size, const Read& read_item) const {
    return read(
        name, count, min_size, [&] { items.resize(count); },
        [&](Cursor& data, std::size_t i) { items[i] = read_item(data); });
  }

 private:
  std::vector<Column> columns_;
};

std::uint64_t varint_of(Cursor& data) { return data.varint(); }
double f64_of(Cursor& data) { return data.f64(); }

struct Counts {
  std::uint64_t tasks, messages;
  std::uint32_t places;
};

void read_tasks(const Cursor& payload, const Columns& columns, const Counts& counts, Phase& phase) {
  std::vector<Task>& tasks = phase.workload.tasks;
  std::vector<PlaceId> places;
  const bool has_loads = columns.read_into(tasks, "load_s", counts.tasks, 8,
                                           [](Cursor& data) { return Task{data.f64()}; });
  columns.read_into(places, "place", counts.tasks, 1,
                    [&](Cursor& data) { return data.below<PlaceId>(counts.places, "place"); });
  if (counts.tasks != 0 && !has_loads)
    payload.fail_here("a phase with tasks has no column \"load_s\"");
  phase.placement = Placement(std::move(places));
  columns.read(
      "bytes", counts.tasks, 1, [] {},
      [&](Cursor& data, std::size_t t) { tasks[t].bytes = data.varint(); });
  columns.read(
      "pinned", (counts.tasks + 7) / 8, 1, [] {},
      [&](Cursor& data, std::size_t byte) {
        const auto bits = data.fixed<std::uint8_t>();
        for (std::size_t t = 8 * byte; t < std::min(8 * byte + 8, tasks.size()); ++t)
          tasks[t].movable = (bits >> (t % 8) & 1) == 0;
      });
}

/// Reads a task number that is stored as its difference from another task number.
TaskId task_near(Cursor& data, TaskId other, std::uint64_t num_tasks) {
  const std::uint64_t task = other + data.signed_varint();
  if (task >= num_tasks)
    data.fail_here("a message names task {}, but there are {} tasks",
                   static_cast<std::int64_t>(task), num_tasks);
  return task;
}

void read_messages(const Cursor& payload, const Columns& columns, const Counts& counts,
                   std::vector<Message>& messages) {
  TaskId before = 0;
  const bool has_from = columns.read_into(messages, "from", counts.messages, 1, [&](Cursor& data) {
    return Message{before = task_near(data, before, counts.tasks), 0};
  });
  const bool has_to = has_from && columns.read(
                                      "to", counts.messages, 1, [] {},
                                      [&](Cursor& data, std::size_t m) {
                                        messages[m].to =
                                            task_near(data, messages[m].from, counts.tasks);
                                      });
  if (counts.messages != 0 && !has_to)
    payload.fail_here("a phase with messages has no column \"{}\"", has_from ? "to" : "from");
  columns.read(
      "count", counts.messages, 1, [] {},
      [&](Cursor& data, std::size_t m) { messages[m].count = data.varint(); });
  columns.read(
      "message_bytes", counts.messages, 1, [] {},
      [&](Cursor& data, std::size_t m) { messages[m].bytes = data.varint(); });
}

TaskName read_name(Cursor& data) {
  TaskName name;
  name.kind = static_cast<TaskName::Kind>(data.below<std::uint8_t>(3, "kind of name"));
  name.id = data.varint();
  name.collection = data.signed_varint();
  name.object_group = data.signed_varint();
  const std::uint64_t size = data.varint();
  if (size > data.remaining()) data.fail_here("the file ends inside an index of {} numbers", size);
  name.index.resize(size);
  for (std::int64_t& i : name.index) i = data.signed_varint();
  return name;
}

std::vector<double> read_subphases(Cursor& data) {
  const std::uint64_t size = data.varint();
  if (size > data.remaining() / 8)
    data.fail_here("the file ends inside the loads of {} subphases", size);
  std::vector<double> loads_s(size);
  for (double& load_s : loads_s) load_s = data.f64();
  return loads_s;
}

TaskMemory read_memory(Cursor& data) {
  TaskMemory memory{data.varint(), data.varint(), -1};
  const std::int64_t block = data.signed_varint();
  if (block < -1 || block > std::numeric_limits<std::int32_t>::max())
    data.fail_here("shared block {} does not exist", block);
  memory.shared_block = block;
  return memory;
}

void read_optional_columns(const Columns& columns, const Counts& counts, Phase& phase) {
  Workload& workload = phase.workload;
  columns.read_into(workload.background_s, "background_s", counts.places, 8, f64_of);
  columns.read_into(workload.positions, "position", counts.tasks, 24, [](Cursor& data) {
    return std::array<double, 3>{data.f64(), data.f64(), data.f64()};
  });
  columns.read_into(workload.homes, "home", counts.tasks, 1,
                    [&](Cursor& data) { return data.below<PlaceId>(counts.places, "home"); });
  columns.read_into(workload.memory, "memory", counts.tasks, 3, read_memory);
  if (std::optional<Cursor> blocks = columns.find("shared_block_bytes"))
    while (blocks->remaining() != 0) workload.shared_block_bytes.push_back(blocks->varint());
  columns.read_into(workload.place_bytes, "place_bytes", counts.places, 1, varint_of);
  columns.read_into(phase.names, "name", counts.tasks, 5, read_name);
  columns.read_into(phase.workload.subphase_load_s, "subphase_load_s", counts.tasks, 1,
                    read_subphases);
  if (std::optional<Cursor> communication = columns.find("communication")) {
    workload.loads_include =
        static_cast<LoadsInclude>(communication->below<std::uint32_t>(3, "kind of load"));
    workload.overlap = communication->f64();
  }
}

Phase read_phase(Cursor payload, std::uint32_t num_places) {
  Phase phase;
  phase.id = payload.varint();
  phase.wall_s = payload.f64();
  const Counts counts{payload.varint(), payload.varint(), num_places};
  if (counts.tasks > std::numeric_limits<TaskId>::max())
    payload.fail_here("a phase has {} tasks; the maximum is {}", counts.tasks,
                      std::numeric_limits<TaskId>::max());
  const Columns columns(payload);
  read_tasks(payload, columns, counts, phase);
  read_messages(payload, columns, counts, phase.workload.messages);
  read_optional_columns(columns, counts, phase);
  return phase;
}

struct Section {
  std::string_view tag;
  Cursor payload;
};

/// Returns the next section. If it is damaged, returns nothing and describes the error in `damage`.
std::optional<Section> next_section(Cursor& file, std::string& damage) {
  constexpr std::size_t kHeadSize = 16;
  if (file.remaining() < kHeadSize) {
    damage = file.remaining() == 0 ? "the end is missing" : "the head of a section is truncated";
    return std::nullopt;
  }
  Cursor section = file;
  const auto checksum = section.fixed<std::uint32_t>();
  const std::string_view head = section.take(12);
  Cursor size_field(file.file(), head.substr(4), 0);
  const auto size = size_field.fixed<std::uint64_t>();
  if (size > section.remaining()) {
    damage = fmt::format("a section of {} bytes is truncated after {}", size, section.remaining());
    return std::nullopt;
  }
  const std::uint64_t offset = section.offset();
  const std::string_view payload = section.take(size);
  if (crc32(payload, crc32(head)) != checksum) {
    damage = fmt::format("the checksum of a section of {} bytes does not match", size);
    return std::nullopt;
  }
  file = section;
  return Section{head.substr(0, 4), Cursor(file.file(), payload, offset)};
}

void read_head(Cursor& file, std::uint32_t max_places, Trace& trace) {
  if (file.remaining() == 0) fail("{}: the file is empty", file.file());
  if (file.remaining() < kMagic.size() || file.take(kMagic.size()) != kMagic)
    fail(
        "{}: byte 0: this is not a .poise file, or a copy in text mode has changed its line "
        "endings; copy the original in binary mode",
        file.file());
  const auto version = file.fixed<std::uint32_t>();
  if (version != kVersion)
    fail("{}: byte 8: the file has version {} of the format; this program reads version {}",
         file.file(), version, kVersion);
  std::string damage;
  std::optional<Section> head = next_section(file, damage);
  if (!head) file.fail_here("{}", damage);
  if (head->tag != "head") file.fail_here("the first section is not \"head\"");
  const std::uint64_t num_places = head->payload.varint();
  if (num_places > max_places)
    head->payload.fail_here(
        "the trace has {} places; a .poise file of this size may have at most {}", num_places,
        max_places);
  trace.num_places = num_places;
}

Machine read_machine(Cursor payload, std::uint32_t max_places) {
  const std::string where = fmt::format("{}: byte {}: machine", payload.file(), payload.offset());
  return machine_from_json(payload.take(payload.remaining()), where, max_places);
}

void check_end(const Cursor& file, Cursor end, std::size_t num_phases) {
  const std::uint64_t announced = end.varint();
  if (announced != num_phases)
    end.fail_here("the file should have {} phases, but has {}", announced, num_phases);
  if (file.remaining() != 0) file.fail_here("{} bytes follow the end", file.remaining());
}

}  // namespace

std::uint32_t max_places_of(std::size_t file_size) {
  constexpr std::size_t kAlways = 1 << 20;
  return std::clamp<std::size_t>(file_size, kAlways, kMaxPlaces);
}

Trace read(const std::string& name, std::string_view bytes, Reading reading) {
  Trace trace;
  Cursor file(name, bytes, 0);
  const std::uint32_t max_places = max_places_of(bytes.size());
  read_head(file, max_places, trace);
  std::string damage;
  while (const std::optional<Section> section = next_section(file, damage)) {
    if (section->tag == "mach") trace.machine = read_machine(section->payload, max_places);
    if (section->tag == "phas")
      trace.phases.push_back(read_phase(section->payload, trace.num_places));
    if (section->tag == "end ") {
      check_end(file, section->payload, trace.phases.size());
      return trace;
    }
  }
  if (reading == Reading::whole && !trace.phases.empty())
    file.fail_here("{}; `poise convert --recover` can save the phases before: {}", damage,
                   trace.phases.size());
  if (trace.phases.empty()) file.fail_here("{}; there is no complete phase before", damage);
  return trace;
}

std::optional<std::string> attachment(const std::string& name, std::string_view bytes,
                                      std::string_view tag) {
  Trace trace;
  Cursor file(name, bytes, 0);
  read_head(file, max_places_of(bytes.size()), trace);
  std::string damage;
  while (std::optional<Section> section = next_section(file, damage))
    if (section->tag == tag)
      return std::string(section->payload.take(section->payload.remaining()));
  return std::nullopt;
}

}  // namespace poise::native
