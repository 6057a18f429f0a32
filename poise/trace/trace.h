// SPDX-License-Identifier: BSD-3-Clause
// A trace: a machine and, per phase, the workload, the placement and the wall time.
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

/// The name of a task in the system that recorded it (in vt: id, collection, index).
struct TaskName {
  enum class Kind : std::uint8_t {
    id,        // `id` is unique in the whole program
    sequence,  // `id` counts the tasks created at one home (vt: seq_id); unique together with the
               // home
    place,     // not a task but the place itself, as an end of messages (vt: "node")
  };
  std::uint64_t id = 0;
  std::int64_t collection = -1;  // -1: none
  std::vector<std::int64_t> index = {};
  std::int64_t object_group = -1;  // -1: none
  Kind kind = Kind::id;
  friend bool operator==(const TaskName&, const TaskName&) = default;
};

struct Phase {
  std::uint64_t id = 0;  // increases from phase to phase
  double wall_s = 0;     // 0: not recorded
  Workload workload;
  Placement placement;          // empty if it was not recorded
  std::vector<TaskName> names;  // per task; empty: tasks are identified by number
};

struct Trace {
  std::optional<Machine> machine;  // the machine of the recording, if known
  std::uint32_t num_places = 0;    // ranks or PEs of the run; 0: unknown
  std::vector<Phase> phases;
  std::vector<std::string> assumed = {};  // values that the file lacks and the reader assumed
};

/// A file format and its name for `--from` and `--to`.
struct TraceFormat {
  std::string_view name, description;
  std::string_view ending;  // of file names, such as ".json"; empty: read only
};
std::span<const TraceFormat> trace_formats();

struct ReadOptions {
  std::string format = {};  // name of the format; empty: recognised by content
  bool recover = false;     // accept an incomplete native file: take its complete phases
};

/// Reads a trace in any format of trace_formats(), recognised by content unless `options` names it:
/// for example a native file, LBDatafiles of vt (a folder or file stem), Charm++ LB dumps (one
/// file, or the stem of several), a METIS graph, a communication matrix, or a report of mpiP. "-"
/// is standard input. Throws Error naming the file and what is wrong.
Trace read_trace(const std::string& path, const ReadOptions& options = {});

/// Returns the files that read_trace() reads for this path. There are several if the path is a
/// folder or a stem, or one of the files of a vt trace. Returns at least the path itself.
std::vector<std::string> trace_files(const std::string& path);

/// Writes a trace in the named format, or in the format that belongs to the ending of the path.
/// Data that the format cannot represent are omitted (docs/formats.md). If this fails, throws Error
/// and leaves no partial file.
void write_trace(const Trace& trace, const std::string& path, std::string_view format = {});

/// Throws Error if write_trace() would refuse this path and format. Programs call this function
/// before long work, so that they fail early.
void check_form(const std::string& path, std::string_view format = {});

/// Throws Error if phase ids do not increase, or if the workload or the placement of a phase is
/// invalid.
void check(const Trace& trace);

}  // namespace poise
