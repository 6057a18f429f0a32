// SPDX-License-Identifier: BSD-3-Clause
// Finds the files of a vt trace, one per rank, from the folder, the stem or one of the files.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/text.h"
#include "poise/trace/vt.h"

namespace poise::vt {

namespace {

namespace fs = std::filesystem;

struct RankName {
  std::string stem;
  std::uint32_t rank;
};

/// Splits a file name: "data.12.json.br" is rank 12 of the series "data".
std::optional<RankName> rank_of_name(std::string_view name) {
  if (name.ends_with(".br")) name.remove_suffix(3);
  if (!name.ends_with(".json")) return std::nullopt;
  name.remove_suffix(5);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return std::nullopt;
  const auto rank = parse_unsigned(name.substr(dot + 1));
  if (!rank || *rank >= std::numeric_limits<PlaceId>::max()) return std::nullopt;
  return RankName{std::string(name.substr(0, dot)), static_cast<std::uint32_t>(*rank)};
}

using Series = std::map<std::uint32_t, std::vector<std::string>>;  // paths by rank

std::map<std::string, Series> series_in(const fs::path& folder) {
  std::map<std::string, Series> found;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder, error)) {
    const auto name = rank_of_name(file.path().filename().string());
    if (name) found[name->stem][name->rank].push_back(file.path().string());
  }
  return found;
}

std::vector<std::string> complete(const std::string& stem, Series& series) {
  std::vector<std::string> paths;
  for (auto& [rank, files] : series) {
    if (files.size() > 1) {
      std::sort(files.begin(), files.end());
      fail("{} and {} are both for rank {}; keep one of them", files[0], files[1], rank);
    }
    if (rank != paths.size())
      fail("{}.{}.json is missing, although there is a file for rank {}", stem, paths.size(),
           series.rbegin()->first);
    paths.push_back(files[0]);
  }
  return paths;
}

std::vector<std::string> find_in_folder(const std::string& path) {
  auto found = series_in(path);
  if (found.empty())
    fail("{}: there are no vt LBDatafiles (STEM.RANK.json or STEM.RANK.json.br)", path);
  const std::string first = (fs::path(path) / found.begin()->first).string();
  if (found.size() > 1)
    fail(
        "{}: the folder has {} series of vt LBDatafiles; give the path of one series, for example "
        "{}",
        path, found.size(), first);
  return complete(first, found.begin()->second);
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

std::vector<std::string> find_rank_files(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return find_in_folder(path);
  const fs::path whole(path);
  const std::string name = whole.filename().string();
  const bool is_file = fs::exists(whole, error);
  const auto rank_name = rank_of_name(name);
  if (is_file && !rank_name) return {};
  const fs::path folder = folder_of(whole);
  auto found = series_in(folder);
  const auto series = found.find(is_file ? rank_name->stem : name);
  if (series == found.end()) return {};
  return complete((folder / series->first).string(), series->second);
}

void check_no_other_files(const std::string& stem, std::string_view ending,
                          std::uint32_t num_ranks) {
  const fs::path path(stem);
  const auto found = series_in(folder_of(path));
  const auto series = found.find(path.filename().string());
  if (series == found.end()) return;
  for (const auto& [rank, files] : series->second)
    for (const std::string& file : files)
      if (rank >= num_ranks || file.ends_with(".br") != ending.ends_with(".br"))
        fail(
            "{} belongs to another trace, but has a name that makes it a part of the new trace; "
            "remove this file, or write the new trace to another folder",
            file);
}

Trace read_files(const std::vector<std::string>& paths) {
  std::vector<RankFile> files;
  files.reserve(paths.size());
  for (const std::string& path : paths)
    files.push_back(parse_rank_file(path, files.size(), read_file(path)));
  return join(std::move(files));
}

}  // namespace poise::vt
