// DARMA/vt's LBDatafiles: what each rank measured, as JSON, one file per rank (docs/formats.md).
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

/// What tells one end of a message from all others in its phase.
struct Key {
  TaskName::Kind kind = TaskName::Kind::id;
  std::uint64_t id = 0;
  std::int64_t home = -1;  // part of the name of the kind `sequence` only; -1: not said
};

/// A task as its rank wrote it down.
struct RankTask {
  Key key;
  Task task;
  std::int64_t home = -1;
  TaskName name;
  std::vector<double> subphase_load_s;
  TaskMemory memory;  // shared_block is not set
  std::int64_t shared_id = -1;
  std::uint64_t shared_bytes = 0;
  bool has_memory = false;
  std::optional<std::array<double, 3>> position;
};

/// A message as some rank wrote it down. Ends that are not migratable need not be listed as tasks.
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
};

/// One rank's file.
struct RankFile {
  std::string name;
  std::uint32_t rank = 0;
  std::vector<RankPhase> phases;
  /// Which of `phases` belongs to each phase of the run: several when it repeats itself.
  std::map<std::uint64_t, std::size_t> phase_of_id;
};

/// Parses one rank's file, plain or brotli. Throws Error naming the file and the phase.
RankFile parse_rank_file(std::string name, std::uint32_t rank, std::string_view bytes);

/// Joins what the ranks say, file r being rank r's. Throws Error naming the file and the phase when
/// they contradict each other.
Trace join(std::vector<RankFile> files);

/// The files STEM.0.json, STEM.1.json … (or .json.br) by rank that `path` means: a folder with one
/// such series, its stem, or one of its files. Empty when path means no such files; throws Error
/// when one is missing, there twice, or the folder has several series.
std::vector<std::string> find_rank_files(const std::string& path);

/// Reads the files found.
Trace read_files(const std::vector<std::string>& paths);

/// Writes STEM.RANK.json, or STEM.RANK.json.br through brotli, one file per place. The machine is
/// not part of these files. Throws Error when a file cannot be written, or when others of that stem
/// are there that would be read with them.
void write_files(const Trace& trace, const std::string& stem, bool compress);

/// Throws Error when there are files of the series that a trace of so many ranks, all with this
/// ending, would not replace.
void check_no_other_files(const std::string& stem, std::string_view ending,
                          std::uint32_t num_ranks);

}  // namespace poise::vt
