// SPDX-License-Identifier: BSD-3-Clause
// Writes LBDatafiles: one JSON file per rank for vt, LBAF and vt-tv. Times and sizes are written as
// floats, because vt's validator rejects integers there.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <span>
#include <vector>

#include "poise/base/enum_index.h"
#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/trace/brotli.h"
#include "poise/trace/vt.h"

namespace poise::vt {

namespace {

using Text = fmt::memory_buffer;

template <typename... Args>
void add(Text& text, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
}

void add_float(Text& text, double value) {
  const std::size_t start = text.size();
  add(text, "{}", value);
  const bool looks_integer =
      std::none_of(text.begin() + start, text.end(), [](char c) { return c == '.' || c == 'e'; });
  if (looks_integer) add(text, ".0");
}

void add_bytes(Text& text, std::string_view key, std::uint64_t bytes) {
  add(text, ",\"{}\":{}.0", key, bytes);
}

/// Indexes of tasks or of messages, grouped by place.
struct ByPlace {
  // The index of each place's first entry; the last element is the number of all entries.
  std::vector<std::size_t> first;
  std::vector<std::size_t> items;
  std::span<const std::size_t> of(PlaceId p) const {
    return {items.data() + first[p], first[p + 1] - first[p]};
  }
};

template <typename PlaceOf>
ByPlace arrange(std::size_t num_items, std::uint32_t num_places, const PlaceOf& place_of) {
  ByPlace result{std::vector<std::size_t>(num_places + 1), std::vector<std::size_t>(num_items)};
  for (std::size_t i = 0; i < num_items; ++i) ++result.first[place_of(i) + 1];
  for (std::size_t p = 0; p < num_places; ++p) result.first[p + 1] += result.first[p];
  std::vector<std::size_t> next(result.first.begin(), result.first.end() - 1);
  for (std::size_t i = 0; i < num_items; ++i) result.items[next[place_of(i)]++] = i;
  return result;
}

/// The data of one phase, grouped by place.
struct Arranged {
  const Phase& phase;
  ByPlace tasks, messages;  // a message belongs to its sender's place
};

Arranged arrange(const Phase& phase, std::uint32_t num_places) {
  const auto place_of = [&](std::size_t t) { return phase.placement.of(t); };
  const auto& messages = phase.workload.messages;
  return {phase, arrange(phase.workload.tasks.size(), num_places, place_of),
          arrange(messages.size(), num_places,
                  [&](std::size_t m) { return place_of(messages[m].from); })};
}

bool is_place(const Phase& phase, TaskId t) {
  return !phase.names.empty() && phase.names[t].kind == TaskName::Kind::place;
}

PlaceId home_of(const Phase& phase, TaskId t) {
  return phase.workload.homes.empty() ? phase.placement.of(t) : phase.workload.homes[t];
}

void add_entity(Text& text, const Phase& phase, TaskId t) {
  if (is_place(phase, t)) {
    const PlaceId place = phase.placement.of(t);
    add(text, R"({{"type":"node","id":{},"home":{},"migratable":false}})", place, place);
    return;
  }
  // Tasks without names are identified by their number, which is the same in every phase.
  const TaskName name =
      phase.names.empty() ? TaskName{t, 0, {}, -1, TaskName::Kind::sequence} : phase.names[t];
  add(text, R"({{"type":"object","{}":{},"home":{},"migratable":{})",
      name.kind == TaskName::Kind::sequence ? "seq_id" : "id", name.id, home_of(phase, t),
      phase.workload.tasks[t].movable);
  if (name.collection >= 0) add(text, ",\"collection_id\":{}", name.collection);
  if (name.object_group >= 0) add(text, ",\"objgroup_id\":{}", name.object_group);
  if (!name.index.empty()) add(text, ",\"index\":[{}]", fmt::join(name.index, ","));
  add(text, "}}");
}

void add_user_defined(Text& text, const Phase& phase, TaskId t) {
  const Workload& workload = phase.workload;
  const std::size_t start = text.size();
  if (workload.tasks[t].bytes > 0)
    add_bytes(text, "task_serialized_bytes", workload.tasks[t].bytes);
  if (!workload.place_bytes.empty())
    add_bytes(text, "rank_working_bytes", workload.place_bytes[phase.placement.of(t)]);
  if (!workload.memory.empty()) {
    const TaskMemory& memory = workload.memory[t];
    add_bytes(text, "task_footprint_bytes", memory.footprint_bytes);
    add_bytes(text, "task_working_bytes", memory.working_bytes);
    if (memory.shared_block >= 0) {
      add(text, ",\"shared_id\":{},\"home_rank\":{}", memory.shared_block, home_of(phase, t));
      add_bytes(text, "shared_bytes", workload.shared_block_bytes[memory.shared_block]);
    }
  }
  if (!workload.positions.empty())
    for (std::size_t axis = 0; axis < 3; ++axis) {
      add(text, ",\"position_{}\":", "xyz"[axis]);
      add_float(text, workload.positions[t][axis]);
    }
  if (text.size() == start) return;
  text[start] = '{';  // overwrites the comma before the first item
  const std::string fields(text.begin() + start, text.end());
  text.resize(start);
  add(text, ",\"user_defined\":{}}}", fields);
}

void add_task(Text& text, const Phase& phase, TaskId t) {
  add(text, "{{\"entity\":");
  add_entity(text, phase, t);
  add(text, ",\"node\":{},\"resource\":\"cpu\",\"time\":", phase.placement.of(t));
  add_float(text, phase.workload.tasks[t].load_s);
  if (!phase.workload.subphase_load_s.empty() && !phase.workload.subphase_load_s[t].empty()) {
    std::size_t id = 0;
    for (const double load_s : phase.workload.subphase_load_s[t]) {
      add(text, "{}{{\"id\":{},\"time\":", id == 0 ? ",\"subphases\":[" : ",", id);
      add_float(text, load_s);
      add(text, "}}");
      ++id;
    }
    add(text, "]");
  }
  add_user_defined(text, phase, t);
  add(text, "}}");
}

void add_message(Text& text, const Phase& phase, const Message& message) {
  const bool from_place = is_place(phase, message.from), to_place = is_place(phase, message.to);
  add(text, R"({{"type":"{}","from":)",
      to_place     ? "CollectionToNode"
      : from_place ? "NodeToCollection"
                   : "SendRecv");
  // vt has no kind of message from one rank to another outside of tasks. So the file gives the
  // sender as the object "nobody", which represents the sending rank.
  if (from_place && to_place)
    add(text, R"({{"type":"object","id":0,"home":0,"migratable":false}})");
  else
    add_entity(text, phase, message.from);
  add(text, ",\"to\":");
  add_entity(text, phase, message.to);
  add(text, ",\"messages\":{},\"bytes\":{}.0}}", message.count, message.bytes);
}

bool has_communication(const Workload& workload) {
  return workload.loads_include != LoadsInclude::none || workload.overlap != 0;
}

/// Writes the data of the rank itself, not of its tasks.
void add_phase_user_defined(Text& text, const Phase& phase, PlaceId rank, double background_s) {
  const Workload& workload = phase.workload;
  add(text, ",\"user_defined\":{{\"background_s\":");
  add_float(text, background_s);
  if (phase.wall_s > 0) {
    add(text, ",\"wall_s\":");
    add_float(text, phase.wall_s);
  }
  if (!workload.place_bytes.empty())
    add_bytes(text, "rank_working_bytes", workload.place_bytes[rank]);
  if (has_communication(workload)) {
    add(text, ",\"loads_include\":{},\"overlap\":", index_of(workload.loads_include));
    add_float(text, workload.overlap);
  }
  add(text, "}}");
}

void add_phase(Text& text, const Arranged& arranged, PlaceId rank) {
  const Phase& phase = arranged.phase;
  double background_s = phase.workload.background_s.empty() ? 0 : phase.workload.background_s[rank];
  add(text, "{{\"id\":{},\"tasks\":[", phase.id);
  const char* separator = "";
  for (const std::size_t item : arranged.tasks.of(rank)) {
    const TaskId t = item;
    if (is_place(phase, t)) {
      background_s += phase.workload.tasks[t].load_s;
      continue;
    }
    add(text, "{}\n", separator);
    add_task(text, phase, t);
    separator = ",";
  }
  add(text, "],\"communications\":[");
  separator = "";
  for (const std::size_t m : arranged.messages.of(rank)) {
    add(text, "{}\n", separator);
    add_message(text, phase, phase.workload.messages[m]);
    separator = ",";
  }
  add(text, "]");
  if (background_s > 0 || phase.wall_s > 0 || !phase.workload.place_bytes.empty() ||
      has_communication(phase.workload))
    add_phase_user_defined(text, phase, rank, background_s);
  add(text, "}}");
}

void add_node(Text& text, const Machine& machine, PlaceId rank) {
  const NodeId node = machine.node_of_place(rank);
  const PlaceId first = machine.first_place(machine.first_domain(node)),
                end = machine.first_place(machine.first_domain(node + 1));
  add(text, R"(,"shared_node":{{"id":{},"size":{},"rank":{},"num_nodes":{}}})", node, end - first,
      rank - first, machine.num_nodes());
}

std::string rank_text(const Trace& trace, const std::vector<Arranged>& phases, PlaceId rank) {
  Text text;
  add(text, R"({{"type":"LBDatafile","metadata":{{"type":"LBDatafile","rank":{})", rank);
  if (trace.machine && trace.machine->num_places() == trace.num_places)
    add_node(text, *trace.machine, rank);
  add(text, "}},\"phases\":[");
  const char* separator = "";
  for (const Arranged& phase : phases) {
    add(text, "{}\n", separator);
    add_phase(text, phase, rank);
    separator = ",";
  }
  add(text, "]}}\n");
  return fmt::to_string(text);
}

std::string part_of(const std::string& path) { return path + ".part"; }

/// Renames all temporary files to their final names. If one cannot be renamed, the trace may be a
/// mix of new and old files, so the error says which are new.
void rename_parts(const std::vector<std::string>& paths) {
  for (std::size_t rank = 0; rank < paths.size(); ++rank) {
    std::error_code error;
    std::filesystem::rename(part_of(paths[rank]), paths[rank], error);
    if (!error) continue;
    const std::string mixed =
        rank == 0
            ? "no file was changed"
            : fmt::format("the files up to {} are new, the others are unchanged", paths[rank - 1]);
    fail("cannot write {}: {}; {}", paths[rank], error.message(), mixed);
  }
}

}  // namespace

void write_files(const Trace& trace, const std::string& stem, bool compress) {
  const std::string ending = compress ? ".json.br" : ".json";
  check_no_other_files(stem, ending, trace.num_places);
  for (const Phase& phase : trace.phases)
    if (phase.placement.num_tasks() == 0)
      fail(
          "a vt trace has one file per place, but the places of the tasks of phase {} are unknown; "
          "give a placement",
          phase.id);
  std::vector<Arranged> phases;
  for (const Phase& phase : trace.phases) phases.push_back(arrange(phase, trace.num_places));
  // The files get their final names only when all are complete. So if the disk becomes full, the
  // trace that they would replace, often the one that was read, stays unchanged.
  std::vector<std::string> paths;
  try {
    for (PlaceId rank = 0; rank < trace.num_places; ++rank) {
      const std::string text = rank_text(trace, phases, rank);
      paths.push_back(fmt::format("{}.{}{}", stem, rank, ending));
      write_file(part_of(paths.back()), compress ? brotli_compress(text) : text);
    }
    rename_parts(paths);
  } catch (...) {
    std::error_code ignored;
    for (const std::string& path : paths) std::filesystem::remove(part_of(path), ignored);
    throw;
  }
}

}  // namespace poise::vt
