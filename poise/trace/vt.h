// SPDX-License-Identifier: BSD-3-Clause
// DARMA/vt's LBDatafiles, which hold the measurements of each rank as JSON, one file per rank
// (docs/formats.md).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "poise/trace/trace.h"

namespace poise::vt {

/// Identifies one end of a message within its phase.
struct Key {
  TaskName::Kind kind = TaskName::Kind::id;
  std::uint64_t id = 0;
  std::int64_t home = -1;  // part of the identity for kind `sequence` only; -1: not given
};

/// A task as recorded by the rank on which it ran.
struct RankTask {
  Key key;
  Task task;
  std::int64_t home = -1;
  TaskName name;
  std::vector<double> subphase_load_s;
  TaskMemory memory;  // shared_block is not set; shared_id below has the block's id
  std::int64_t shared_id = -1;
  std::uint64_t shared_bytes = 0;
  bool has_memory = false;
  std::optional<std::array<double, 3>> position;
};

/// A message as a rank recorded it. A sender or receiver that cannot migrate need not be listed as
/// a task.
struct RankMessage {
  Key from, to;
  bool from_movable = true, to_movable = true;
  std::uint64_t count = 0, bytes = 0;
};

struct RankPhase {
  std::vector<RankTask> tasks;
  std::vector<RankMessage> messages;
  double background_s = 0;
  double wall_s = 0;
  std::uint64_t place_bytes = 0;
  LoadsInclude loads_include = LoadsInclude::none;
  double overlap = 0;
};

/// The content of one rank's file.
struct RankFile {
  std::string name;
  std::uint32_t rank = 0;
  std::vector<RankPhase> phases;
  /// The index into `phases` of each phase of the run, by the phase's id. A phase that the file
  /// lists as identical to the previous one has the same index as that phase.
  std::map<std::uint64_t, std::size_t> phase_of_id;
  std::optional<std::uint64_t> node = {};  // the host of the rank, if the metadata name it
};

/// Reads the file of one rank, plain or brotli. Throws Error naming the file and the phase.
RankFile parse_rank_file(std::string name, std::uint32_t rank, std::string_view bytes);

/// Joins the files of all ranks; files[r] is the file of rank r. The trace has a machine if every
/// rank names its host and every host has the same number of ranks, with consecutive numbers.
/// Throws Error naming the file and the phase if files contradict each other.
Trace join(std::vector<RankFile> files);

/// The files STEM.0.json, STEM.1.json, ... (or .json.br) in order of rank. `path` is a folder with
/// one such series, the stem of a series, or one of its files. Returns nothing if there are no such
/// files. Throws Error if a file of the series is missing, if a rank appears twice, or if the
/// folder has several series.
std::vector<std::string> find_rank_files(const std::string& path);

/// Reads these files.
Trace read_files(const std::vector<std::string>& paths);

/// Writes STEM.RANK.json, or STEM.RANK.json.br with brotli, one file per place. The files do not
/// describe the machine, except that they name the node of each place. Throws Error if a file
/// cannot be written, or if other files with this stem would later be read as further ranks. If
/// renaming one of the temporary files fails, the error says which files are new.
void write_files(const Trace& trace, const std::string& stem, bool compress);

/// Called before a trace of num_ranks ranks is written. The new trace replaces the files of ranks 0
/// to num_ranks - 1 that have this stem and ending. Throws Error if the folder has other files with
/// this stem, because they would later be read as part of the new trace.
void check_no_other_files(const std::string& stem, std::string_view ending,
                          std::uint32_t num_ranks);

}  // namespace poise::vt
