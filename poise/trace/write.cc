// SPDX-License-Identifier: BSD-3-Clause
// Writes a trace in the requested format.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/text.h"
#include "poise/trace/metis_graph.h"
#include "poise/trace/native.h"
#include "poise/trace/trace.h"
#include "poise/trace/vt.h"

namespace poise {

namespace {

std::vector<std::string_view> writable_names() {
  std::vector<std::string_view> names;
  for (const TraceFormat& format : trace_formats())
    if (!format.ending.empty()) names.push_back(format.name);
  return names;
}

std::string_view format_for(const std::string& path) {
  std::vector<std::string_view> endings;
  for (const TraceFormat& format : trace_formats()) {
    if (format.ending.empty()) continue;
    if (path.ends_with(format.ending)) return format.name;
    endings.push_back(format.ending);
  }
  fail("{}: the file name must end in one of {}; the ending selects the trace format", path,
       fmt::join(endings, ", "));
}

/// Returns the name of the format to write: `format`, or if that is empty, the format that belongs
/// to the ending of the path. Throws Error if Poise cannot write it.
std::string_view form_of(const std::string& path, std::string_view format) {
  if (format.empty()) return format_for(path);
  const auto names = writable_names();
  if (std::find(names.begin(), names.end(), format) != names.end()) return format;
  for (const TraceFormat& known : trace_formats())
    if (known.name == format)
      fail("traces in the format {} can be read, but not written; formats for writing: {}", format,
           fmt::join(names, ", "));
  throw Error(unknown_name("format", format, names));
}

void write_vt(const Trace& trace, std::string_view path, std::string_view format) {
  std::error_code ignored;
  if (is_written_in_place(std::string(path)) && !std::filesystem::is_directory(path, ignored))
    fail("{}: a vt trace has one file per place; give a file name such as out.json", path);
  const std::string_view ending = format == "vt" ? ".json" : ".json.br";
  if (path.ends_with(ending)) path.remove_suffix(ending.size());
  vt::write_files(trace, std::string(path), format == "vt-brotli");
}

}  // namespace

void write_trace(const Trace& trace, const std::string& path, std::string_view format) {
  check(trace);
  format = form_of(path, format);
  if (format == "native") return write_file(path, native::write(trace));
  if (format == "metis") return write_file(path, metis::write_graph(trace));
  write_vt(trace, path, format);
}

void check_form(const std::string& path, std::string_view format) { form_of(path, format); }

}  // namespace poise
