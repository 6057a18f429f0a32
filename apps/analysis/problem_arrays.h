// SPDX-License-Identifier: BSD-3-Clause
// Converts a problem to plain arrays, which strategies outside of Poise read through C or as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "poise/placement/problem.h"
#include "poise/plugin.h"

namespace poise::apps {

/// Copies of the arrays of a problem. problem() returns a poise_problem that points to these
/// copies.
class ProblemArrays {
 public:
  explicit ProblemArrays(const Problem& problem);
  ProblemArrays(const ProblemArrays&) = delete;
  ProblemArrays& operator=(const ProblemArrays&) = delete;
  const poise_problem& problem() const { return view_; }

 private:
  void add_tasks(const Problem& problem);
  void add_messages(const Workload& workload);
  void add_machine(const Machine& machine);
  void add_memory(const Workload& workload);
  void add_subphases(const Workload& workload);
  void add_past(const Problem& problem);

  poise_problem view_{};
  std::vector<double> load_s_, speed_, background_s_, latency_, bandwidth_, position_,
      subphase_load_s_, past_loads_s_;
  std::vector<std::uint64_t> size_bytes_, indptr_, counts_, bytes_, footprint_bytes_,
      working_bytes_, shared_block_bytes_, place_bytes_;
  std::vector<std::uint8_t> movable_;
  std::vector<std::int32_t> shared_block_;
  std::vector<std::uint32_t> current_, indices_, domain_, node_, level_group_, home_;
  std::vector<std::string> level_names_;
  std::vector<const char*> level_name_;  // points into level_names_
};

/// Writes the problem as one JSON document (docs/strategies.md). Its keys are the names of the
/// members of poise_problem (poise/plugin.h); null means that a value is unknown.
std::string json_of(const poise_problem& problem);

}  // namespace poise::apps
