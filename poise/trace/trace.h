// A trace: a machine and, for each phase, what ran, where, and how long it took.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
  std::uint64_t id = 0;  // grows from phase to phase
  double wall_s = 0;     // 0: not recorded
  Workload workload;
  Placement placement;          // without tasks: not recorded
  std::vector<TaskName> names;  // per task, or empty: tasks are called by their number
};

struct Trace {
  std::optional<Machine> machine;  // where it was recorded, if known
  std::uint32_t num_places = 0;    // ranks or PEs that took part; 0: not known
  std::vector<Phase> phases;
  std::vector<std::string> assumed = {};  // what the file does not say and its reader chose
};

/// The forms of files, by the name used for `--from` and `--to`.
struct TraceFormat {
  std::string_view name, description;
  std::string_view ending;  // of the files written by default; empty: cannot be written
};
std::span<const TraceFormat> trace_formats();

struct ReadOptions {
  std::string format = {};  // by name; empty: told by content
  bool recover = false;     // take the whole phases of a native file that was never finished
};

/// Reads a trace of any known form, told apart by content: native, a folder or stem of vt
/// LBDatafiles, a Charm++ LB dump or the stem of several, a METIS graph. "-" is standard input.
/// Throws Error naming the file and what is wrong.
Trace read_trace(const std::string& path, const ReadOptions& options = {});

/// Writes a trace in the named form, or the one that the end of the path stands for. What a form
/// cannot hold is left out (docs/formats.md). Throws Error; nothing is then half-written.
void write_trace(const Trace& trace, const std::string& path, std::string_view format = {});

/// Throws Error when write_trace could not tell the form, or does not write it; asked before long
/// work.
void check_form(const std::string& path, std::string_view format = {});

/// Throws Error when a phase's parts do not fit together, or phase ids do not grow.
void check(const Trace& trace);

}  // namespace poise
