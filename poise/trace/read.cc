// SPDX-License-Identifier: BSD-3-Clause
// Recognises the format of a trace and calls its reader.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/text.h"
#include "poise/trace/charm_dump.h"
#include "poise/trace/matrix.h"
#include "poise/trace/metis_graph.h"
#include "poise/trace/mpip.h"
#include "poise/trace/native.h"
#include "poise/trace/trace.h"
#include "poise/trace/vt.h"

namespace poise {

namespace {

constexpr TraceFormat kFormats[] = {
    {"native", "Poise's own: everything, compact, with checksums", ".poise"},
    {"vt", "LBDatafiles of DARMA/vt: OUT.RANK.json, one file per place", ".json"},
    {"vt-brotli", "the same, compressed: OUT.RANK.json.br", ".json.br"},
    {"metis", "a METIS graph: one phase, loads and bytes as weights", ".graph"},
    {"matrix-market", "a matrix of bytes from row to column", ""},
    {"csv", "a matrix of bytes, or a list of messages: from,to,bytes[,messages]", ""},
    {"charm", "an LB dump of Charm++ (+LBDump); NAME reads NAME.0, NAME.1, ...", ""},
    {"mpip", "a report of mpiP", ""},
};

/// Returns the text from its first line that is neither blank nor a comment. Comments are skipped
/// because a comma in them does not mean that the file is CSV.
std::string_view without_comments(std::string_view text) {
  while (!text.empty()) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (!text.starts_with('%')) break;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  return text;
}

/// True if a trace may begin with these bytes: with the magic number of a binary format, or with
/// text.
bool may_begin_trace(std::string_view bytes) {
  return native::may_begin(bytes) || bytes.starts_with(charm::kMagic) || is_text(bytes);
}

/// True if the bytes begin like text. Streams of brotli hardly ever do: about one in ten of their
/// bytes is a control character.
bool begins_as_text(std::string_view bytes) {
  constexpr std::size_t kLooked = 1024;
  constexpr std::string_view kBlanks = "\t\n\v\f\r";
  bytes = bytes.substr(0, kLooked);
  return std::all_of(bytes.begin(), bytes.end(), [&](char c) {
    return static_cast<unsigned char>(c) >= ' ' || kBlanks.find(c) != kBlanks.npos;
  });
}

/// Returns the format of a single file according to its first bytes.
std::string_view format_of_content(std::string_view bytes) {
  if (bytes.starts_with(native::kMagic.substr(0, native::kMagic.find('\r')))) return "native";
  if (bytes.starts_with(charm::kMagic)) return "charm";
  if (bytes.starts_with(matrix::kMagic)) return "matrix-market";
  if (bytes.starts_with(mpip::kMagic)) return "mpip";
  if (!begins_as_text(bytes)) return "vt";
  const std::string_view rest = without_comments(bytes);
  const std::string_view line = rest.substr(0, rest.find('\n'));
  const bool names_columns = line.find("from") != line.npos && line.find("bytes") != line.npos;
  if ((names_columns || line.find_first_of(",;") != line.npos) &&
      line.find_first_of("{[\"") == line.npos)
    return "csv";
  if (matrix::is_square(rest)) return "csv";
  const bool is_number = !rest.empty() && rest.front() >= '0' && rest.front() <= '9';
  if (bytes.starts_with('%') || is_number) return "metis";
  return "vt";
}

/// True if the path is a stream, such as a pipe. A stream always contains the whole trace, whereas
/// a regular file may be one of several files (one per phase or rank) that together form the trace.
bool is_stream(const std::string& path) {
  std::error_code error;
  return path == kStdin || !std::filesystem::is_regular_file(path, error);
}

Trace read_vt(const std::string& path, const std::string& bytes) {
  if (is_stream(path)) return vt::join({vt::parse_rank_file(path, 0, bytes)});
  std::vector<std::string> files = vt::find_rank_files(path);
  if (files.empty()) files.push_back(path);  // a trace of a single file, which may have any name
  return vt::read_files(files);
}

Trace read_file_as(std::string_view format, const std::string& path, const std::string& bytes,
                   const ReadOptions& options) {
  if (options.recover && format != "native")
    fail(
        "{}: --recover reads only .poise files, but this file has the format {}; leave out "
        "--recover",
        path, format);
  if (format == "native")
    return native::read(path, bytes,
                        options.recover ? native::Reading::recover : native::Reading::whole);
  if (format == "charm" && is_stream(path)) return charm::read_dump(path, bytes);
  if (format == "charm") return charm::read_series(charm::find_series(path));
  if (format == "metis") return metis::read_graph(path, bytes);
  if (format == "matrix-market") return matrix::read_matrix_market(path, bytes);
  if (format == "csv") return matrix::read_csv(path, bytes);
  if (format == "mpip") return mpip::read_report(path, bytes);
  return read_vt(path, bytes);
}

/// Reads a trace that consists of several files: those in a folder, or those with a common stem.
Trace read_several(const std::string& path, std::string_view format) {
  if (format != "charm") {
    const std::vector<std::string> files = vt::find_rank_files(path);
    if (!files.empty()) return vt::read_files(files);
  }
  if (format.empty() || format == "charm") {
    const auto files = charm::find_series(path);
    if (!files.empty()) return charm::read_series(files);
  }
  fail("{}: neither this file nor {}.0.json nor {}.0 exists", path, path, path);
}

Trace read_any(const std::string& path, const ReadOptions& options) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(path, error);
  const bool is_there = path == kStdin || std::filesystem::exists(path, error);
  if (is_folder || !is_there) return read_several(path, options.format);
  std::string bytes = read_file(path, may_begin_trace);
  if (bytes.empty()) fail("{}: the file is empty", path);
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF"))
    fail("{}: the file is text in UTF-16; save it as UTF-8", path);
  bytes.erase(0, bytes.size() - without_byte_order_mark(bytes).size());
  return read_file_as(options.format.empty() ? format_of_content(bytes) : options.format, path,
                      bytes, options);
}

}  // namespace

std::span<const TraceFormat> trace_formats() { return kFormats; }

Trace read_trace(const std::string& path, const ReadOptions& options) {
  std::vector<std::string_view> names;
  for (const TraceFormat& format : kFormats) names.push_back(format.name);
  if (!options.format.empty() &&
      std::find(names.begin(), names.end(), options.format) == names.end())
    throw Error(unknown_name("format", options.format, names));
  Trace trace = read_any(path, options);
  try {
    check(trace);
  } catch (const Error& error) {
    fail("{}: {}", path, error.what());
  }
  return trace;
}

std::vector<std::string> trace_files(const std::string& path) {
  std::vector<std::string> files{path};
  if (path == kStdin) return files;
  try {
    for (const std::string& file : vt::find_rank_files(path)) files.push_back(file);
    for (const charm::SeriesFile& file : charm::find_series(path)) files.push_back(file.path);
  } catch (const Error&) {  // ignored: read_trace() will say which files are missing
  }
  return files;
}

void check(const Trace& trace) {
  if (trace.phases.empty()) fail("the trace has no phases; at least 1 is needed");
  std::optional<std::uint64_t> before;
  for (const Phase& phase : trace.phases) {
    if (before && phase.id <= *before)
      fail("phase {} comes after phase {}; phase numbers must increase", phase.id, *before);
    before = phase.id;
    if (!std::isfinite(phase.wall_s) || phase.wall_s < 0)
      fail("phase {}: its time is {} s; it must be finite and at least 0", phase.id, phase.wall_s);
    try {
      check(phase.workload, trace.num_places);
      if (phase.placement.num_tasks() != 0)
        check(phase.placement, phase.workload.num_tasks(), trace.num_places);
    } catch (const Error& error) {
      fail("phase {}: {}", phase.id, error.what());
    }
  }
}

}  // namespace poise
