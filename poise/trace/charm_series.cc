// SPDX-License-Identifier: BSD-3-Clause
// Finds the dumps of one run, NAME.0, NAME.1, ..., and reads them as phases.
#include <algorithm>
#include <filesystem>
#include <tuple>

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/text.h"
#include "poise/trace/charm_dump.h"

namespace poise::charm {

namespace fs = std::filesystem;

std::vector<SeriesFile> find_series(const std::string& path) {
  const fs::path whole(path);
  const std::string name = whole.filename().string();
  std::error_code error;
  if (fs::is_regular_file(whole, error)) {
    const std::size_t dot = name.rfind('.');
    const auto number = parse_unsigned(std::string_view(name).substr(dot + 1));
    return {{dot != std::string::npos && number ? *number : 0, path}};
  }
  std::vector<SeriesFile> files;
  const fs::path folder = whole.has_parent_path() ? whole.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string other = entry.path().filename().string();
    if (name.empty() || !other.starts_with(name + ".")) continue;
    const auto number = parse_unsigned(std::string_view(other).substr(name.size() + 1));
    if (number) files.push_back({*number, entry.path().string()});
  }
  std::sort(files.begin(), files.end(), [](const SeriesFile& a, const SeriesFile& b) {
    return std::tie(a.number, a.path) < std::tie(b.number, b.path);
  });
  for (std::size_t i = 1; i < files.size(); ++i) {
    if (files[i].number == files[i - 1].number)
      fail("{} and {} both have the dump number {}; keep one of them", files[i - 1].path,
           files[i].path, files[i].number);
    if (files[i].number != files[i - 1].number + 1)
      fail("{}.{} is missing; the series of dumps from number {} to number {} must be complete",
           path, files[i - 1].number + 1, files.front().number, files.back().number);
  }
  return files;
}

Trace read_series(const std::vector<SeriesFile>& files) {
  Trace trace;
  for (const SeriesFile& file : files) {
    Trace dump = read_dump(file.path, read_file(file.path));
    if (!trace.phases.empty() && dump.num_places != trace.num_places)
      fail("{}: the dump has {} processors, but {} has {}; all dumps must be of one run", file.path,
           dump.num_places, files[0].path, trace.num_places);
    dump.phases[0].id = file.number;
    if (trace.phases.empty())
      trace = std::move(dump);
    else
      trace.phases.push_back(std::move(dump.phases[0]));
  }
  return trace;
}

}  // namespace poise::charm
