// SPDX-License-Identifier: BSD-3-Clause

#include "apps/pingpong/network_probe.h"

#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "apps/pingpong/launcher.h"

#include "poise/base/error.h"
#include "poise/machine/hosts.h"

namespace poise::apps {

namespace {

using Json = nlohmann::json;

constexpr double kStartSeconds = 90;  // time limit for starting and ending the ranks

constexpr const char* kRootCure =
    " (Open MPI needs OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 to run as "
    "root)";

/// poise-pingpong is in the same folder as `poise`, both in the build tree and when installed.
std::string pingpong_path() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto path = program.parent_path() / "poise-pingpong";
  if (error || !std::filesystem::exists(path))
    fail(
        "--launcher needs {}, which is built only if MPI is installed (apt install libopenmpi-dev)",
        path.string());
  return path.string();
}

/// Collects the output of poise-pingpong, line by line (see apps/pingpong/pingpong.cc).
class Listener {
 public:
  explicit Listener(const std::function<void(double, const std::string&)>& progress)
      : progress_(progress) {}

  /// Takes one line of output. Ignores lines that poise-pingpong did not write, such as those of
  /// the launcher.
  void hear(std::string_view line) {
    if (line.empty() || line.front() != '{') return;
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return;
    if (json.contains("poise_pingpong")) {
      times_.hosts = json.at("hosts").get<std::vector<std::string>>();
      num_pairs_ = json.at("pairs").get<std::size_t>();
    } else if (json.contains("bytes")) {
      hear_time(json);
    } else if (json.contains("done")) {
      end_pair();
      is_done_ = true;
    }
  }

  bool is_done() const { return is_done_; }
  NetworkTimes result() && { return std::move(times_); }

 private:
  void hear_time(const Json& json) {
    const auto from = json.at("from").get<std::string>(), to = json.at("to").get<std::string>();
    if (from != from_ || to != to_) end_pair();
    from_ = from;
    to_ = to;
    const auto ns = json.at("one_way_ns").get<std::vector<double>>();
    message_times_.push_back(
        {json.at("bytes").get<std::uint64_t>(), {ns.at(0), ns.at(1), ns.at(2)}});
    if (progress_ && num_pairs_ > 0)
      progress_(1.0 * times_.pairs.size() / num_pairs_, fmt::format("messages {} to {}", from, to));
  }
  void end_pair() {
    if (message_times_.empty()) return;
    times_.pairs.push_back(host_pair(from_, to_, message_times_));
    message_times_.clear();
  }

  const std::function<void(double, const std::string&)>& progress_;
  NetworkTimes times_;
  std::size_t num_pairs_ = 0;
  std::string from_, to_;
  std::vector<MessageTime> message_times_;
  bool is_done_ = false;
};

}  // namespace

NetworkTimes measure_network(const NetworkProbe& probe,
                             const std::function<void(double, const std::string&)>& progress) {
  const std::string command =
      fmt::format("{} {} --seconds {:.1f}{}", probe.launcher, shell_word(pingpong_path()),
                  probe.seconds, probe.ranks_as_hosts ? " --ranks-as-hosts" : "");
  if (progress) progress(0, "starting the launcher");
  Listener listener(progress);
  try {
    run_lines(command, 3 * probe.seconds + kStartSeconds,
              [&](std::string_view line) { listener.hear(line); });
  } catch (const std::runtime_error& error) {
    const bool is_root = std::string_view(error.what()).find("run as root") != std::string::npos;
    throw std::runtime_error(fmt::format("{}{}", error.what(), is_root ? kRootCure : ""));
  }
  if (!listener.is_done())
    throw std::runtime_error(
        fmt::format("\"{}\" succeeded, but no messages were timed; Poise appends the path of a "
                    "program to this command, and the command must start that program",
                    probe.launcher));
  return std::move(listener).result();
}

}  // namespace poise::apps
