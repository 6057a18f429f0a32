// SPDX-License-Identifier: BSD-3-Clause

#include "poise/trace/mpip.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "poise/base/error.h"
#include "poise/base/text.h"
#include "poise/machine/limits.h"
#include "poise/trace/lines.h"

namespace poise::mpip {

namespace {

constexpr std::string_view kRankLine = "@ MPI Task Assignment";
constexpr std::string_view kTimes = "@--- MPI Time (seconds)";
constexpr std::string_view kMatrix = "Start Communication Matrix";
constexpr std::string_view kMatrixEnd = "End Communication Matrix";
/// Times are printed with three digits, so rounding may make MPITime larger than AppTime.
constexpr double kRounding = 1.01;

class Report {
 public:
  Report(const std::string& name, std::string_view text) : lines_(name, text) {}

  Trace read() {
    read_sections();
    if (workload_.tasks.empty()) fail("{}: the report has no section \"MPI Time\"", lines_.file());
    Trace trace;
    trace.num_places = workload_.num_tasks();
    Phase& phase = trace.phases.emplace_back();
    std::vector<PlaceId> places(workload_.num_tasks());
    std::iota(places.begin(), places.end(), 0);
    phase.placement = Placement(std::move(places));
    phase.wall_s = wall_s_;
    phase.workload = std::move(workload_);
    trace.assumed.push_back(
        has_matrix_ ? "mpiP reports hold point-to-point messages only; rank r is taken to be at "
                      "place r"
                    : "the mpiP report does not say who sends to whom, so no messages are known; "
                      "\"poise profile\" records them; rank r is taken to be at place r");
    return trace;
  }

 private:
  void read_sections() {
    std::size_t num_ranks = 0;
    while (const auto line = lines_.next()) {
      if (line->starts_with(kRankLine)) ++num_ranks;
      if (line->starts_with(kTimes)) read_times(num_ranks);
      if (line->find(kMatrix) != line->npos) read_matrix();
    }
  }

  double seconds(std::string_view word) const {
    const auto value = parse_number(word);
    if (!value || *value < 0) lines_.fail_here("\"{}\" is not a time", word.substr(0, 40));
    return *value;
  }

  /// Reads the lines "Task AppTime MPITime MPI%", one per rank, up to the line "*" with the sum.
  void read_times(std::size_t num_ranks) {
    if (!workload_.tasks.empty()) lines_.fail_here("there is a second section \"MPI Time\"");
    while (const auto line = lines_.next()) {
      const auto words = split_at_blanks(*line);
      if (words.empty() || words[0] == "Task" || words[0].starts_with('-')) continue;
      if (words[0] == "*") break;
      if (words.size() < 3 || parse_unsigned(words[0]) != workload_.tasks.size())
        lines_.fail_here("the times of rank {} should be here", workload_.tasks.size());
      if (workload_.tasks.size() == kMaxPlaces) lines_.fail_here("more than {} ranks", kMaxPlaces);
      const double app_s = seconds(words[1]), mpi_s = seconds(words[2]);
      if (mpi_s > kRounding * app_s)
        lines_.fail_here("rank {} spent {} s in MPI, more than its run time of {} s", words[0],
                         words[2], words[1]);
      workload_.tasks.push_back({.load_s = std::max(0.0, app_s - mpi_s)});
      wall_s_ = std::max(wall_s_, app_s);
    }
    if (num_ranks != 0 && num_ranks != workload_.tasks.size())
      lines_.fail_here("{} ranks are assigned, but {} have times", num_ranks,
                       workload_.tasks.size());
  }

  TaskId rank(std::string_view word) const {
    const auto value = parse_unsigned(word);
    if (!value || *value >= workload_.tasks.size())
      lines_.fail_here("rank \"{}\" does not exist; there are {}", word.substr(0, 40),
                       workload_.tasks.size());
    return *value;
  }

  std::uint64_t amount(std::string_view word) const {
    const auto value = parse_unsigned(word);
    if (!value) lines_.fail_here("\"{}\" is not a whole number", word.substr(0, 40));
    return *value;
  }

  /// Reads the lines "source target bytes count". Skips headings, empty lines, and pairs of ranks
  /// without messages.
  void read_matrix() {
    has_matrix_ = true;
    while (const auto line = lines_.next()) {
      if (line->find(kMatrixEnd) != line->npos) return;
      const auto words = split_at_blanks(*line);
      if (words.empty() || !(words[0][0] >= '0' && words[0][0] <= '9')) continue;
      if (words.size() != 4)
        lines_.fail_here("a line of the matrix has {} words instead of 4", words.size());
      const Message message{rank(words[0]), rank(words[1]), amount(words[3]), amount(words[2])};
      if (message.count > 0 || message.bytes > 0) workload_.messages.push_back(message);
    }
    lines_.fail_here("the communication matrix does not end; the file is truncated");
  }

  Lines lines_;
  Workload workload_;
  double wall_s_ = 0;
  bool has_matrix_ = false;
};

}  // namespace

Trace read_report(const std::string& name, std::string_view text) {
  return Report(name, text).read();
}

}  // namespace poise::mpip
