// SPDX-License-Identifier: BSD-3-Clause
// Defines the tasks of rank 0 that all programs run when lending is compared with its alternatives.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace poise::bench {

struct PeerCase {
  int tasks = 200, repeats = 5;
  double us = 1000, spread = 0;
  std::size_t bytes_in = 64, bytes_out = 64;
  bool sleep = false;

  /// Reads the command line. If the program should end, returns its exit status.
  std::optional<int> parse(int argc, char** argv, const char* summary, const char* program);
  /// Returns a line of JSON: the case and, for each way to run the tasks, the seconds of its runs.
  nlohmann::json row(int num_ranks,
                     const std::map<std::string, std::vector<double>>& seconds) const;
};

/// Tasks that each read `bytes_in` bytes and write `bytes_out` bytes. `data` has the input and the
/// output of the first task, then those of the second, and so on.
struct PeerTasks {
  std::size_t bytes_in = 0, bytes_out = 0;
  std::vector<char> data;
  std::vector<double> us;  // the length of each task in microseconds

  std::size_t size() const { return us.size(); }
  std::span<char> in(std::size_t task) {
    return std::span(data).subspan(task * (bytes_in + bytes_out), bytes_in);
  }
  std::span<char> out(std::size_t task) {
    return std::span(data).subspan(task * (bytes_in + bytes_out) + bytes_in, bytes_out);
  }
};

using TaskBody = std::function<void(std::span<const char> in, std::span<char> out, double us)>;

/// Bodies of tasks: the first one computes and the second one sleeps for `us` microseconds. Both
/// then copy the first byte of `in` to `out`.
void compute_task(std::span<const char> in, std::span<char> out, double us);
void sleep_task(std::span<const char> in, std::span<char> out, double us);

/// Returns the tasks of a case, or no tasks if `has_tasks` is false.
PeerTasks tasks_of(const PeerCase& what, bool has_tasks);

/// Ends the job if a result is missing, and clears all results for the next run.
void check(PeerTasks& tasks, const std::string& way);

}  // namespace poise::bench
