// SPDX-License-Identifier: BSD-3-Clause
// Reads one rank's LBDatafile (JSON, often compressed with brotli) into tasks and messages by name.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <simdjson.h>
#include <utility>

#include "poise/base/enum_index.h"
#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/trace/brotli.h"
#include "poise/trace/vt.h"

namespace poise::vt {

namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

/// Maximum number of phases that a file may list as identical to their previous phases.
constexpr std::uint64_t kMaxRepeats = 1 << 18;

/// The current position in the file, for error messages.
struct Where {
  const std::string& file;
  std::optional<std::uint64_t> phase = {};
  const char* list = nullptr;  // "task" or "communication"
  std::size_t item = 0;

  template <typename... Args>
  [[noreturn]] void fail_here(fmt::format_string<Args...> format, Args&&... args) const {
    std::string where = file;
    if (phase) where += fmt::format(": phase {}", *phase);
    if (list) where += fmt::format(": {} {}", list, item);
    fail("{}: {}", where, fmt::format(format, std::forward<Args>(args)...));
  }
};

object object_in(const Where& where, std::string_view key, element value) {
  object result;
  if (value.get(result)) where.fail_here("\"{}\" is not an object", key);
  return result;
}

array array_in(const Where& where, std::string_view key, element value) {
  array result;
  if (value.get(result)) where.fail_here("\"{}\" is not an array", key);
  return result;
}

std::string_view string_in(const Where& where, std::string_view key, element value) {
  std::string_view result;
  if (value.get(result)) where.fail_here("\"{}\" is not a string", key);
  return result;
}

std::uint64_t unsigned_in(const Where& where, std::string_view key, element value) {
  std::uint64_t result = 0;
  if (value.get(result)) where.fail_here("\"{}\" is not an integer of at least 0", key);
  return result;
}

std::int64_t integer_in(const Where& where, std::string_view key, element value) {
  std::int64_t result = 0;
  if (value.get(result)) where.fail_here("\"{}\" is not an integer", key);
  return result;
}

bool bool_in(const Where& where, std::string_view key, element value) {
  bool result = false;
  if (value.get(result)) where.fail_here("\"{}\" is neither true nor false", key);
  return result;
}

double number_in(const Where& where, std::string_view key, element value) {
  double result = 0;
  if (value.get(result) || !std::isfinite(result)) where.fail_here("\"{}\" is not a number", key);
  return result;
}

double seconds_in(const Where& where, std::string_view key, element value) {
  const double result = number_in(where, key, value);
  if (result < 0) where.fail_here("\"{}\" is {}; it must be at least 0", key, result);
  return result;
}

/// vt writes sizes as floats, sometimes with a fraction. Rounds them to whole bytes.
std::uint64_t bytes_in(const Where& where, std::string_view key, element value) {
  const double result = number_in(where, key, value);
  if (result < 0 || result > 0x1p63)
    where.fail_here("\"{}\" is {}; it must be from 0 to 2^63 bytes", key, result);
  return static_cast<std::uint64_t>(std::round(result));
}

/// The name of a task, or of a sender or receiver of a message.
struct Entity {
  Key key;
  std::int64_t home = -1;
  TaskName name;
  bool movable = true;
};

void read_index(const Where& where, element value, std::vector<std::int64_t>& index) {
  for (const element i : array_in(where, "index", value))
    index.push_back(integer_in(where, "index", i));
}

std::int64_t home_in(const Where& where, std::string_view key, element value) {
  const std::uint64_t home = unsigned_in(where, key, value);
  if (home > std::numeric_limits<PlaceId>::max()) where.fail_here("\"{}\" is not a rank", key);
  return home;
}

/// True for vt's object "nobody", which represents the work and messages of a rank outside of
/// tasks.
bool is_nobody(const Entity& entity) {
  return entity.key.kind == TaskName::Kind::id && entity.key.id == 0 && !entity.movable &&
         entity.name.collection < 0 && entity.name.object_group < 0;
}

Entity read_entity(const Where& where, std::string_view role, element value) {
  Entity entity;
  std::string_view type;
  std::optional<std::uint64_t> id, sequence;
  for (const auto& [key, field] : object_in(where, role, value)) {
    if (key == "id") id = unsigned_in(where, key, field);
    if (key == "seq_id") sequence = unsigned_in(where, key, field);
    if (key == "type") type = string_in(where, key, field);
    if (key == "home") entity.home = home_in(where, key, field);
    if (key == "migratable") entity.movable = bool_in(where, key, field);
    if (key == "collection_id") entity.name.collection = integer_in(where, key, field);
    if (key == "objgroup_id") entity.name.object_group = integer_in(where, key, field);
    if (key == "index") read_index(where, field, entity.name.index);
  }
  if (type != "object" && type != "node")
    where.fail_here("the type of \"{}\" is \"{}\", which is neither object nor node", role, type);
  if (!id && !sequence) where.fail_here("\"{}\" has neither \"id\" nor \"seq_id\"", role);
  if (type == "node") {
    entity.key.kind = TaskName::Kind::place;
    entity.home = id ? *id & 0xffffffff : -1;
    if (!id || *id > std::numeric_limits<PlaceId>::max())
      where.fail_here("\"{}\" is a node without a rank as \"id\"", role);
    entity.movable = false;
  } else if (!id) {
    entity.key.kind = TaskName::Kind::sequence;
    entity.key.home = entity.home;
  }
  entity.key.id = id ? *id : *sequence;
  entity.name.kind = entity.key.kind;
  entity.name.id = entity.key.id;
  return entity;
}

void read_user_defined(const Where& where, object fields, RankTask& task, RankPhase& phase) {
  std::optional<std::uint64_t> serialized_bytes;
  const auto memory = [&](std::string_view key, element value) {
    task.has_memory = true;
    return bytes_in(where, key, value);
  };
  for (const auto& [key, value] : fields) {
    if (key == "task_serialized_bytes") serialized_bytes = bytes_in(where, key, value);
    if (key == "task_footprint_bytes") task.memory.footprint_bytes = memory(key, value);
    if (key == "task_working_bytes") task.memory.working_bytes = memory(key, value);
    if (key == "shared_bytes") task.shared_bytes = memory(key, value);
    if (key == "shared_id") task.shared_id = integer_in(where, key, value);
    if (key == "home_rank") task.home = home_in(where, key, value);
    if (key == "rank_working_bytes")
      phase.place_bytes = std::max(phase.place_bytes, bytes_in(where, key, value));
    if (key.starts_with("position_") && key.size() == 10 && key[9] >= 'x' && key[9] <= 'z') {
      if (!task.position) task.position.emplace();
      (*task.position)[key[9] - 'x'] = number_in(where, key, value);
    }
  }
  if (task.shared_id >= 0) task.has_memory = true;
  if (serialized_bytes) task.task.bytes = *serialized_bytes;
}

void read_subphases(const Where& where, array list, std::vector<double>& load_s) {
  for (const element subphase : list) {
    std::uint64_t id = load_s.size();
    double time_s = 0;
    for (const auto& [key, value] : object_in(where, "subphases", subphase)) {
      if (key == "id") id = unsigned_in(where, key, value);
      if (key == "time") time_s = seconds_in(where, key, value);
    }
    if (id != load_s.size())
      where.fail_here("subphase {} is out of order; {} is expected", id, load_s.size());
    load_s.push_back(time_s);
  }
}

void read_task(const Where& where, element value, RankPhase& phase) {
  RankTask task;
  std::optional<Entity> entity;
  std::optional<double> load_s;
  std::optional<object> user_defined;
  for (const auto& [key, field] : object_in(where, "tasks", value)) {
    if (key == "time") load_s = seconds_in(where, key, field);
    if (key == "entity") entity = read_entity(where, key, field);
    if (key == "subphases")
      read_subphases(where, array_in(where, key, field), task.subphase_load_s);
    if (key == "user_defined") user_defined = object_in(where, key, field);
  }
  if (!entity) where.fail_here("it has no \"entity\"");
  if (!load_s) where.fail_here("it has no \"time\"");
  if (entity->key.kind == TaskName::Kind::place) where.fail_here("a node is listed as a task");
  if (is_nobody(*entity)) {
    phase.background_s += *load_s;
    return;
  }
  task.key = entity->key;
  task.home = entity->home;
  task.name = std::move(entity->name);
  task.task = {*load_s, 0, entity->movable};
  if (user_defined) read_user_defined(where, *user_defined, task, phase);
  phase.tasks.push_back(std::move(task));
}

Key end_of_message(const Entity& entity, std::uint32_t rank) {
  if (is_nobody(entity)) return {TaskName::Kind::place, rank, rank};
  // The key contains the home rank even if the task's name does not, because join() needs it: if no
  // rank lists the task, join() places the task on its home rank.
  return {entity.key.kind, entity.key.id, entity.home};
}

void read_message(const Where& where, element value, std::uint32_t rank, RankPhase& phase) {
  std::optional<Entity> from, to;
  std::optional<std::uint64_t> count, bytes;
  std::optional<std::string_view> type;
  for (const auto& [key, field] : object_in(where, "communications", value)) {
    if (key == "from") from = read_entity(where, key, field);
    if (key == "to") to = read_entity(where, key, field);
    if (key == "messages") count = unsigned_in(where, key, field);
    if (key == "bytes") bytes = bytes_in(where, key, field);
    if (key == "type") type = string_in(where, key, field);
  }
  // vt writes only the size of a message whose kind it does not support. Such a message is skipped.
  if (!type && !from && !to) return;
  if (!from) where.fail_here("it has no \"from\"");
  if (!to) where.fail_here("it has no \"to\"");
  if (!count) where.fail_here("it has no \"messages\"");
  if (!bytes) where.fail_here("it has no \"bytes\"");
  phase.messages.push_back({end_of_message(*from, rank), end_of_message(*to, rank), from->movable,
                            to->movable, *count, *bytes});
}

LoadsInclude loads_include_in(const Where& where, std::string_view key, element value) {
  const std::uint64_t result = unsigned_in(where, key, value);
  if (result > index_of(LoadsInclude::send_and_receive))
    where.fail_here("\"{}\" is {}; it must be 0, 1 or 2", key, result);
  return static_cast<LoadsInclude>(result);
}

void read_phase_user_defined(const Where& where, object fields, RankPhase& phase) {
  for (const auto& [key, value] : fields) {
    if (key == "wall_s") phase.wall_s = seconds_in(where, key, value);
    if (key == "background_s") phase.background_s += seconds_in(where, key, value);
    if (key == "rank_working_bytes")
      phase.place_bytes = std::max(phase.place_bytes, bytes_in(where, key, value));
    if (key == "loads_include") phase.loads_include = loads_include_in(where, key, value);
    if (key == "overlap") phase.overlap = number_in(where, key, value);
  }
}

void read_phase(Where where, element value, RankFile& file) {
  const object fields = object_in(where, "phases", value);
  std::uint64_t id = 0;
  if (fields["id"].get(id)) where.fail_here("a phase has no \"id\" of at least 0");
  where.phase = id;
  if (!file.phase_of_id.emplace(id, file.phases.size()).second) where.fail_here("it appears twice");
  RankPhase& phase = file.phases.emplace_back();
  for (const auto& [key, field] : fields) {
    if (key == "tasks") {
      where.list = "task";
      where.item = 0;
      for (const element task : array_in(where, key, field)) {
        read_task(where, task, phase);
        ++where.item;
      }
    }
    if (key == "communications") {
      where.list = "communication";
      where.item = 0;
      for (const element message : array_in(where, key, field)) {
        read_message(where, message, file.rank, phase);
        ++where.item;
      }
    }
    where.list = nullptr;
    if (key == "user_defined") read_phase_user_defined(where, object_in(where, key, field), phase);
  }
}

/// Adds the phases that the file omits because each of them equals the phase before it. The file
/// gives the ids of these phases as a list of numbers and a list of ranges.
void repeat_phases(const Where& where, object identical, RankFile& file) {
  std::uint64_t repeats = 0;
  const auto repeat = [&](std::uint64_t first, std::uint64_t last) {
    if (last < first || last - first >= kMaxRepeats ||
        last == std::numeric_limits<std::uint64_t>::max())
      where.fail_here("\"identical_to_previous\" has the range {} to {}", first, last);
    repeats += last - first + 1;
    if (repeats > kMaxRepeats)
      where.fail_here("\"identical_to_previous\" has more than {} phases", kMaxRepeats);
    for (std::uint64_t id = first; id <= last; ++id) {
      const auto next = file.phase_of_id.lower_bound(id);
      if (next != file.phase_of_id.end() && next->first == id) continue;
      if (next == file.phase_of_id.begin())
        where.fail_here("phase {} is identical to the one before, but there is none", id);
      file.phase_of_id.emplace_hint(next, id, std::prev(next)->second);
    }
  };
  for (const auto& [key, field] : identical) {
    if (key == "list")
      for (const element id : array_in(where, key, field)) {
        const std::uint64_t phase = unsigned_in(where, "identical_to_previous", id);
        repeat(phase, phase);
      }
    if (key == "range")
      for (const element range : array_in(where, key, field)) {
        const array ends = array_in(where, "range", range);
        if (ends.size() != 2) where.fail_here("a range of phases must have two numbers");
        repeat(unsigned_in(where, "range", ends.at(0)), unsigned_in(where, "range", ends.at(1)));
      }
  }
}

void read_metadata(const Where& where, object metadata, RankFile& file,
                   std::optional<object>& identical) {
  for (const auto& [key, value] : metadata) {
    if (key == "type" && string_in(where, key, value) != "LBDatafile")
      where.fail_here("its type is \"{}\", not \"LBDatafile\"", string_in(where, key, value));
    if (key == "rank" && unsigned_in(where, key, value) != file.rank)
      where.fail_here("its metadata give rank {}, but its name gives {}",
                      unsigned_in(where, key, value), file.rank);
    if (key == "shared_node") {
      element id;
      if (!object_in(where, key, value)["id"].get(id)) file.node = unsigned_in(where, "id", id);
    }
    if (key == "phases") {
      element found;
      if (!object_in(where, key, value)["identical_to_previous"].get(found))
        identical = object_in(where, "identical_to_previous", found);
    }
  }
}

/// The fast parser does not report the position of an error, so a slower one parses the text again.
[[noreturn]] void fail_at_syntax(const std::string& name, std::string_view json,
                                 simdjson::error_code error) {
  try {
    // The parser stores nothing, because only the position of the error is needed.
    const auto drop = [](int, nlohmann::json::parse_event_t, nlohmann::json&) { return false; };
    [[maybe_unused]] const nlohmann::json nothing = nlohmann::json::parse(json, drop);
  } catch (const nlohmann::json::parse_error& syntax) {
    fail("{}: invalid JSON: syntax error at byte {}", name, syntax.byte);
  } catch (const nlohmann::json::exception&) {
    fail("{}: invalid JSON: a number is out of range", name);
  }
  fail("{}: invalid JSON: {}", name, simdjson::error_message(error));
}

bool looks_like_json(std::string_view bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && bytes[first] == '{';
}

}  // namespace

RankFile parse_rank_file(std::string name, std::uint32_t rank, std::string_view bytes) {
  bytes = without_byte_order_mark(bytes);
  simdjson::padded_string json(bytes);
  simdjson::dom::parser parser;
  element document;
  simdjson::error_code error =
      looks_like_json(bytes) ? parser.parse(json).get(document) : simdjson::TAPE_ERROR;
  if (error) {
    if (const auto text = brotli_decompress(bytes)) {
      json = simdjson::padded_string(*text);
      error = parser.parse(json).get(document);
      if (error) fail_at_syntax(name, *text, error);
    } else if (looks_like_json(bytes)) {
      fail_at_syntax(name, bytes, error);
    } else if (bytes.starts_with("\x1F\x8B")) {
      fail("{}: the file is compressed by gzip; unpack it with gunzip", name);
    } else {
      fail(
          "{}: the file has none of the formats that `poise convert --help` lists. If it is "
          "compressed by brotli, it is damaged, or its decompressed text is too large",
          name);
    }
  }

  RankFile file{std::move(name), rank, {}, {}};
  const Where where{file.name};
  object root;
  if (document.get(root)) where.fail_here("not an LBDatafile: not a JSON object");
  element found;
  if (root["phases"].get(found)) where.fail_here("not an LBDatafile: it has no \"phases\"");
  for (const element phase : array_in(where, "phases", found)) read_phase(where, phase, file);
  if (!root["type"].get(found) && string_in(where, "type", found) != "LBDatafile")
    where.fail_here("its type is \"{}\", not \"LBDatafile\"", string_in(where, "type", found));
  std::optional<object> identical;
  if (!root["metadata"].get(found))
    read_metadata(where, object_in(where, "metadata", found), file, identical);
  if (identical) repeat_phases(where, *identical, file);
  return file;
}

}  // namespace poise::vt
