// SPDX-License-Identifier: BSD-3-Clause
// Reads Charm++ LB dumps. Charm++ 6.10 and Charm++ 7 to 8 write different layouts that both claim
// version 3; the reader takes the layout that fits every byte of the file.
#include "poise/trace/charm_dump.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/trace/cursor.h"

namespace poise::charm {

namespace {

struct Layout {
  // True for Charm++ 6.10, which writes all counts before all lists. For objects, it writes two
  // lists of processors: the first says where each object is, the second where a strategy moved it.
  bool counts_first;
  bool has_pointers;   // 6.10 stores a raw pointer before each object
  bool has_cpu_times;  // true if Charm++ was built to record CPU times
};

constexpr Layout kLayouts[] = {{true, true, false}, {false, false, false}, {true, false, false},
                               {true, true, true},  {false, false, true},  {true, false, true}};

struct Processor {
  double total_s, background_s, speed;
  std::int32_t pe;
};

struct ObjectId {
  std::int32_t array = 0;
  std::uint64_t id = 0;
  friend bool operator==(const ObjectId&, const ObjectId&) = default;
};

struct Object {
  ObjectId id;
  double load_s;
  bool movable;
};

/// Messages of one sender to one receiver, or to each member of a multicast.
struct Record {
  std::int32_t from_pe;  // -1: the sender is an object
  ObjectId from;
  std::int32_t to_pe = -1;  // -1: the receivers are objects
  std::vector<ObjectId> to = {};
  std::uint64_t messages = 0, bytes = 0;
};

struct Dump {
  std::vector<Processor> processors;
  std::vector<Object> objects;
  std::vector<std::int32_t> from;  // per object
  std::vector<Record> records;
};

/// Records where and why a layout does not fit.
struct Misfit {
  std::uint64_t offset = 0;
  const char* why = "";
};

/// Reads a dump in one layout. The length of every list is checked against the remaining bytes
/// before it is read.
class Parser {
 public:
  Parser(Cursor file, const Layout& layout) : file_(file), layout_(layout) {}

  std::optional<Dump> parse(Misfit& misfit) {
    if (read_all() && file_.remaining() == 0) return std::move(dump_);
    misfit = {file_.offset(), misfit_ ? misfit_ : "bytes follow the end"};
    return std::nullopt;
  }

 private:
  // A record has a sender, a type, a receiving processor, and the numbers of messages and bytes.
  static constexpr std::size_t kMinRecordBytes = 16 + 1 + 4 + 8;

  bool refuse(const char* why) {
    misfit_ = why;
    return false;
  }

  bool has(std::uint64_t count, std::size_t size) {
    return count <= file_.remaining() / size ? true : refuse("the file ends inside a list");
  }

  std::int32_t i32() { return file_.fixed<std::uint32_t>(); }
  ObjectId object_id() {
    const std::int32_t array = i32();
    return {array, file_.fixed<std::uint64_t>()};
  }

  /// Reads a boolean; fails if the byte is neither 0 nor 1.
  std::optional<bool> read_flag() {
    const auto byte = file_.fixed<std::uint8_t>();
    if (byte > 1) return std::nullopt;
    return byte == 1;
  }

  /// True for a valid time. An invalid one shows that the file has another layout.
  static bool is_time(double value) { return std::isfinite(value) && value >= 0; }

  bool read_all() {
    std::uint64_t processors = 0, objects = 0, records = 0, migratable = 0;
    if (!has(1, 24)) return false;
    file_.take(20);
    const std::uint64_t announced = file_.fixed<std::uint32_t>();
    if (!has(4, 4)) return false;
    if (layout_.counts_first) {
      processors = file_.fixed<std::uint32_t>();
      objects = file_.fixed<std::uint32_t>();
      migratable = file_.fixed<std::uint32_t>();
      records = file_.fixed<std::uint32_t>();
    } else {
      migratable = file_.fixed<std::uint32_t>();
      if (!read_count(processors)) return false;
    }
    if (processors != announced || processors == 0)
      return refuse(
          "the number of processors is 0 or differs from the number in the header of the file");
    return read_processors(processors) && (layout_.counts_first || read_count(objects)) &&
           (migratable <= objects ||
            refuse("the number of migratable objects exceeds the number of objects")) &&
           read_objects(objects) && read_places(objects) &&
           (layout_.counts_first || read_count(records)) && read_records(records);
  }

  bool read_count(std::uint64_t& count) {
    if (!has(1, 8)) return false;
    count = file_.fixed<std::uint64_t>();
    return true;
  }

  bool read_processors(std::uint64_t count) {
    if (!has(count, layout_.has_cpu_times ? 57 : 41)) return false;
    for (std::uint64_t p = 0; p < count; ++p) {
      Processor processor{};
      processor.total_s = file_.f64();
      file_.take(8);  // idle time
      processor.background_s = file_.f64();
      if (layout_.has_cpu_times) file_.take(16);
      processor.speed = file_.f64();
      const bool has_flag = read_flag().has_value();  // flag: true if the processor is available
      file_.take(4);                                  // skips the processor's number of objects
      processor.pe = i32();
      if (!has_flag || processor.pe < -1 || !is_time(processor.total_s) ||
          !is_time(processor.background_s) || !is_time(processor.speed))
        return refuse(
            "a processor has a flag other than 0 or 1, a processor number below -1, or a time or "
            "speed that is negative or not finite");
      dump_.processors.push_back(processor);
    }
    return true;
  }

  bool read_objects(std::uint64_t count) {
    const std::size_t size = layout_.has_cpu_times ? 40 : 32;
    if (!has(count, size)) return false;
    for (std::uint64_t n = 0; n < count; ++n) {
      if (layout_.has_pointers) {
        if (!has(1, 4)) return false;
        const auto pointer_size = file_.fixed<std::uint32_t>();
        if (!has(pointer_size, 1)) return false;
        file_.take(pointer_size);
      }
      if (!has(1, size)) return false;
      Object object{};
      object.id.array = i32();
      file_.take(4);
      object.id.id = file_.fixed<std::uint64_t>();
      file_.take(4);
      object.load_s = file_.f64();
      if (layout_.has_cpu_times) file_.take(8);
      const auto movable = read_flag(), asynchronous = read_flag();
      file_.take(2);  // skips a size, which is usually uninitialised
      if (!movable || !asynchronous || !is_time(object.load_s))
        return refuse(
            "an object has a flag other than 0 or 1, or a load that is negative or not finite");
      object.movable = *movable;
      dump_.objects.push_back(object);
    }
    return true;
  }

  bool read_places(std::uint64_t count) {
    if (!layout_.counts_first) {
      std::uint64_t places = 0;
      if (!read_count(places)) return false;
      if (places != count)
        return refuse("the list of the objects and the list of their processors differ in length");
    }
    if (!has(count, layout_.counts_first ? 8 : 4)) return false;
    for (std::uint64_t n = 0; n < count; ++n) {
      dump_.from.push_back(i32());
      if (dump_.from.back() < 0 ||
          static_cast<std::size_t>(dump_.from.back()) >= dump_.processors.size())
        return refuse("an object is on a processor that the file does not list");
    }
    if (layout_.counts_first) file_.take(4 * count);  // skips where the strategy moved the objects
    return true;
  }

  bool read_records(std::uint64_t count) {
    if (!has(count, kMinRecordBytes)) return false;
    for (std::uint64_t m = 0; m < count; ++m)
      if (!read_record()) return false;
    return true;
  }

  bool read_record() {
    if (!has(1, kMinRecordBytes)) return false;
    Record record{i32(), object_id()};
    const auto type = file_.fixed<std::uint8_t>();
    if (type == 1) {
      record.to_pe = i32();
    } else if (type == 2) {
      if (!has(1, 16 + 8)) return false;
      record.to.push_back(object_id());
      file_.take(4);  // skips the PE on which the sender assumed the receiver to be
    } else if (type == 3) {
      const auto members = file_.fixed<std::uint32_t>();
      if (!has(members, 12)) return false;
      for (std::uint32_t i = 0; i < members; ++i) record.to.push_back(object_id());
    } else {
      return refuse("a message has a type other than 1, 2 or 3");
    }
    if (!has(2, 4)) return false;
    record.messages = file_.fixed<std::uint32_t>();
    record.bytes = file_.fixed<std::uint32_t>();
    dump_.records.push_back(std::move(record));
    return true;
  }

  Cursor file_;
  Layout layout_;
  Dump dump_;
  const char* misfit_ = nullptr;
};

void check_head(Cursor file) {
  // The start of a dump on all current 64-bit machines: version; sizes of char, short, int, long,
  // int128; byte order; sizes and order of floats; sizes of bool and pointer.
  constexpr std::string_view kHead(
      "\x10\xEA\xBD\xF9\x01\x01\x02\x04\x08\x10\x01\x04\x08\x01\x01\x08", 16);
  if (file.remaining() < kHead.size()) file.fail_here("too short for a Charm++ LB dump");
  for (std::size_t i = 0; i < kHead.size(); ++i)
    if (file.take(1)[0] != kHead[i])
      fail("{}: byte {}: not a Charm++ LB dump of a 64-bit little-endian machine", file.file(), i);
  if (file.remaining() < 4) file.fail_here("too short for a Charm++ LB dump");
  const std::uint64_t at = file.offset();
  const auto version = file.fixed<std::uint32_t>();
  if (version != 3)
    fail("{}: byte {}: the LB dump has version {}; only version 3 can be read", file.file(), at,
         version);
}

Dump parse(const std::string& name, std::string_view bytes) {
  const Cursor file(name, bytes, 0);
  check_head(file);
  Misfit furthest;
  for (const Layout& layout : kLayouts) {
    Misfit misfit;
    if (auto dump = Parser(file, layout).parse(misfit)) return *std::move(dump);
    if (misfit.offset > furthest.offset) furthest = misfit;
  }
  fail(
      "{}: byte {}: {}; the file has neither the layout of Charm++ 6.10 nor that of Charm++ 7 and "
      "8",
      name, furthest.offset, furthest.why);
}

struct IdHash {
  std::size_t operator()(const ObjectId& id) const {
    return mix(id.id ^ mix(static_cast<std::uint32_t>(id.array)));
  }
};

/// Finds the task of each sender and receiver in the records. A processor becomes a task only if it
/// sends or receives.
class Tasks {
 public:
  Tasks(const std::string& name, const Dump& dump, Phase& phase) : phase_(phase) {
    for (std::size_t n = 0; n < dump.objects.size(); ++n)
      if (!task_of_object_.emplace(dump.objects[n].id, n).second)
        fail("{}: object {} of array {} appears twice", name, dump.objects[n].id.id,
             dump.objects[n].id.array);
    for (std::size_t p = 0; p < dump.processors.size(); ++p)
      place_of_pe_.emplace(dump.processors[p].pe, p);
  }

  std::optional<TaskId> of_object(const ObjectId& id) const {
    const auto found = task_of_object_.find(id);
    if (found == task_of_object_.end()) return std::nullopt;
    return found->second;
  }

  std::optional<TaskId> of_processor(std::int32_t pe) {
    const auto place = place_of_pe_.find(pe);
    if (place == place_of_pe_.end()) return std::nullopt;
    const auto [task, is_new] =
        task_of_place_.try_emplace(place->second, phase_.workload.num_tasks());
    if (is_new) {
      phase_.workload.tasks.push_back({0, 0, false});
      phase_.names.push_back({place->second, -1, {}, -1, TaskName::Kind::place});
    }
    return task->second;
  }

 private:
  Phase& phase_;
  std::unordered_map<ObjectId, TaskId, IdHash> task_of_object_;
  std::unordered_map<std::int32_t, PlaceId> place_of_pe_;
  std::unordered_map<PlaceId, TaskId> task_of_place_;
};

/// Sorts objects by name, so that their numbers are the same in all dumps.
void sort_objects(Dump& dump) {
  std::vector<std::size_t> order(dump.objects.size());
  for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const ObjectId &x = dump.objects[a].id, &y = dump.objects[b].id;
    return std::tuple(x.array, x.id, a) < std::tuple(y.array, y.id, b);
  });
  std::vector<Object> objects;
  std::vector<std::int32_t> from;
  for (const std::size_t n : order) {
    objects.push_back(dump.objects[n]);
    from.push_back(dump.from[n]);
  }
  dump.objects = std::move(objects);
  dump.from = std::move(from);
}

/// Returns the processors' speeds relative to the fastest, or nothing if all are equal.
std::vector<double> relative_speeds(const std::string& name, const Dump& dump) {
  std::vector<double> speeds;
  double fastest = 0;
  for (const Processor& processor : dump.processors) {
    if (processor.speed == 0)
      fail("{}: processor {} has speed {}", name, speeds.size(), processor.speed);
    speeds.push_back(processor.speed);
    fastest = std::max(fastest, processor.speed);
  }
  for (double& speed : speeds) speed /= fastest;
  if (std::all_of(speeds.begin(), speeds.end(), [](double speed) { return speed == 1; })) return {};
  return speeds;
}

void add_messages(const Dump& dump, Tasks& tasks, Workload& workload) {
  for (const Record& record : dump.records) {
    const auto from =
        record.from_pe == -1 ? tasks.of_object(record.from) : tasks.of_processor(record.from_pe);
    if (!from) continue;
    const auto add = [&](const std::optional<TaskId>& to) {
      if (to) workload.messages.push_back({*from, *to, record.messages, record.bytes});
    };
    if (record.to_pe != -1) add(tasks.of_processor(record.to_pe));
    // A multicast has a single record, but every member receives all bytes of the message.
    for (const ObjectId& to : record.to) add(tasks.of_object(to));
  }
}

Machine machine_with(const std::string& name, const std::vector<double>& speeds) {
  MachineParts parts = flat_machine(speeds.size()).parts();
  for (std::size_t p = 0; p < speeds.size(); ++p) parts.places[p].speed = speeds[p];
  try {
    return Machine(std::move(parts));
  } catch (const Error& error) {
    fail("{}: {}", name, error.what());
  }
}

}  // namespace

Trace read_dump(const std::string& name, std::string_view bytes) {
  Dump dump = parse(name, bytes);
  sort_objects(dump);
  const std::vector<double> speeds = relative_speeds(name, dump);
  Trace trace;
  trace.num_places = dump.processors.size();
  if (!speeds.empty()) trace.machine = machine_with(name, speeds);
  Phase& phase = trace.phases.emplace_back();
  std::vector<PlaceId> places;
  for (std::size_t n = 0; n < dump.objects.size(); ++n) {
    const Object& object = dump.objects[n];
    const PlaceId place = dump.from[n];
    const double speed = speeds.empty() ? 1 : speeds[place];
    phase.workload.tasks.push_back({object.load_s * speed, 0, object.movable});
    phase.names.push_back({object.id.id, object.id.array, {}, -1, TaskName::Kind::id});
    places.push_back(place);
  }
  Tasks tasks(name, dump, phase);
  add_messages(dump, tasks, phase.workload);
  // The load of a chare includes its communication (Pilla et al., ICPP 2012, section IV).
  phase.workload.loads_include = LoadsInclude::send_and_receive;
  for (std::size_t t = places.size(); t < phase.names.size(); ++t)
    places.push_back(phase.names[t].id);
  phase.placement = Placement(std::move(places));
  for (const Processor& processor : dump.processors) {
    phase.workload.background_s.push_back(processor.background_s);
    phase.wall_s = std::max(phase.wall_s, processor.total_s);
  }
  return trace;
}

}  // namespace poise::charm
