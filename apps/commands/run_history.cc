// SPDX-License-Identifier: BSD-3-Clause

#include "apps/commands/run_history.h"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <sys/file.h>
#include <unistd.h>

#include "poise/base/enum_index.h"
#include "poise/base/error.h"
#include "poise/base/file.h"

namespace poise::apps {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr std::string_view kKinds[] = {"profiled", "own order", "mapped"};

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Returns the FNV-1a hash of a text, which is the same on all platforms.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

RunKind kind_named(const std::string& name) {
  for (std::size_t kind = 0; kind < std::size(kKinds); ++kind)
    if (kKinds[kind] == name) return static_cast<RunKind>(kind);
  fail("a run has \"how\": \"{}\", but \"how\" must be \"profiled\", \"own order\" or \"mapped\"",
       name);
}

RunHistory history_from(const Json& json) {
  if (json.at("poise_run").get<int>() != kVersion)
    fail("the file was written by another version of Poise");
  RunHistory history;
  history.command = json.at("command").get<std::vector<std::string>>();
  history.hosts = json.at("hosts").get<std::vector<std::string>>();
  history.job_hosts = json.value("job_hosts", std::uint64_t{0});  // histories of older versions
                                                                  // lack this number
  history.job_ranks = json.value("job_ranks", std::uint64_t{0});
  history.map = json.at("map").get<std::vector<PlaceId>>();
  history.map_failed = json.at("map_failed").get<bool>();
  history.predicted = json.at("predicted").get<double>();
  for (const Json& run : json.at("runs"))
    history.runs.push_back(
        {kind_named(run.at("how").get<std::string>()), run.at("seconds").get<double>()});
  next_run(trial_of(history));  // throws if the time of a run is invalid
  return history;
}

[[noreturn]] void refuse_history(const std::string& path, std::string_view why) {
  fail("{}: this file is not a history that poise run can read ({}); remove it to begin a new one",
       path, why);
}

}  // namespace

MapHistory trial_of(const RunHistory& history) {
  return {.has_map = !history.map.empty(),
          .map_failed = history.map_failed,
          .predicted = history.predicted,
          .runs = history.runs};
}

std::string usual_history_file(const std::vector<std::string>& command) {
  std::string folder = environment("XDG_DATA_HOME");
  const std::string home = environment("HOME");
  if (folder.empty() && home.empty()) return "";
  if (folder.empty()) folder = home + "/.local/share";
  std::error_code error;
  std::string key = fs::current_path(error).string();
  for (const std::string& word : command) key += '\0' + word;
  return fmt::format("{}/poise/runs/{:016x}.json", folder, hash_of(key));
}

std::string profile_beside(const std::string& history_file) {
  const std::string profile = fs::path(history_file).replace_extension(".poise").string();
  return profile == history_file ? history_file + ".poise" : profile;
}

HistoryLock::HistoryLock(const std::string& history_file) {
  const std::string folder = fs::path(history_file).parent_path().string();
  folder_ = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_ >= 0) ::flock(folder_, LOCK_EX);
}

HistoryLock::~HistoryLock() {
  if (folder_ >= 0) ::close(folder_);
}

RunHistory read_history(const std::string& path, const std::vector<std::string>& command) {
  std::error_code error;
  if (!fs::exists(path, error)) return {.command = command};
  RunHistory history;
  try {
    history = history_from(Json::parse(read_file(path)));
  } catch (const Json::parse_error&) {
    refuse_history(path, "it is not JSON");
  } catch (const Json::exception&) {
    refuse_history(path, "an entry is missing or has the wrong type");
  } catch (const Error& trouble) {
    refuse_history(path, trouble.what());
  }
  if (history.command != command)
    fail("{}: this file is the history of another command, {}; name another file with --history",
         path, fmt::join(history.command, " "));
  return history;
}

void write_history(const std::string& path, const RunHistory& history) {
  Json json{{"poise_run", kVersion},
            {"command", history.command},
            {"hosts", history.hosts},
            {"job_hosts", history.job_hosts},
            {"job_ranks", history.job_ranks},
            {"map", history.map},
            {"map_failed", history.map_failed},
            {"predicted", history.predicted}};
  json["runs"] = Json::array();
  for (const TimedRun& run : history.runs)
    json["runs"].push_back({{"how", kKinds[index_of(run.kind)]}, {"seconds", run.seconds}});
  std::string text;
  try {
    text = json.dump(1) + "\n";
  } catch (const Json::type_error&) {  // thrown if a text is not UTF-8
    fail("{}: the command cannot be stored, because it is not text in UTF-8", path);
  }
  write_file(path, text);
}

}  // namespace poise::apps
