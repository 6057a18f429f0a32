// A trace: a machine and, for each phase, what ran, where, and how long it took.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise {

/// How a task is called in the world it was recorded in (vt: id, collection, index).
struct TaskName {
  enum class Kind : std::uint8_t {
    id,        // `id` is unique in the whole program
    sequence,  // `id` counts what was born at one home (vt: seq_id); with the home it is unique
    place,     // not an object but its place itself, as the end of messages (vt: "node")
  };
  std::uint64_t id = 0;
  std::int64_t collection = -1;  // -1: none
  std::vector<std::int64_t> index = {};
  std::int64_t object_group = -1;  // -1: none
  Kind kind = Kind::id;
  friend bool operator==(const TaskName&, const TaskName&) = default;
};

struct Phase {
  std::uint64_t id = 0;
  double wall_s = 0;  // 0: not recorded
  Workload workload;
  Placement placement;
  std::vector<TaskName> names;  // per task, or empty: tasks are called by their number
  std::vector<std::vector<double>> subphase_load_s;  // per task, or empty: not recorded
};

struct Trace {
  std::optional<Machine> machine;  // where it was recorded, if known
  std::uint32_t num_places = 0;    // ranks or PEs that took part
  std::vector<Phase> phases;
};

/// Reads a trace of any known form, told apart by content: native, a directory or stem of vt
/// LBDatafiles, a Charm++ LB dump, a METIS graph. Throws Error naming the file and what is wrong.
Trace read_trace(const std::string& path);

/// Throws Error when a phase's parts do not fit together.
void check(const Trace& trace);

}  // namespace poise
