// SPDX-License-Identifier: BSD-3-Clause
// Holds the results of borrowed tasks until they are sent to the owners of the tasks, or to ranks
// that collect results for these owners (LendingAgent::returns_to).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "poise/online/lending_agent.h"
#include "poise/online/polling.h"

namespace poise {

/// The results that one rank has not yet sent. `Result` is what the caller stores for each result.
///
/// Results wait for a short time, so that further results can share their message
/// (results_are_due). They also wait until their receiver has confirmed the last message
/// (LendingAgent::may_send_results).
template <typename Result>
class HeldResults {
 public:
  using Message = std::pair<std::uint32_t, std::vector<Result>>;  // the receiver, and its results

  void add(std::uint32_t to, Result&& result, double now_s) {
    ForOne& held = by_receiver_[to];
    if (held.results.empty()) held.oldest_s = now_s;
    held.results.push_back(std::move(result));
    ++size_;
  }
  /// Removes and returns the results to send now.
  std::vector<Message> take_due(bool is_idle, double now_s, LendingAgent& agent) {
    std::vector<Message> due;
    for (auto& [to, held] : by_receiver_)
      if (results_are_due(is_idle, now_s - held.oldest_s) && agent.may_send_results(to))
        due.emplace_back(to, std::move(held.results));
    for (const auto& [to, results] : due) remove(to, results.size(), agent);
    return due;
  }
  /// Removes and returns all results for one receiver. The caller has to send them now.
  std::vector<Result> take_of(std::uint32_t to, LendingAgent& agent) {
    const auto held = by_receiver_.find(to);
    if (held == by_receiver_.end()) return {};
    std::vector<Result> results = std::move(held->second.results);
    remove(to, results.size(), agent);
    return results;
  }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  struct ForOne {
    std::vector<Result> results;
    double oldest_s = 0;  // time at which the first result was added
  };
  void remove(std::uint32_t to, std::size_t results, LendingAgent& agent) {
    agent.sent_results(to);
    by_receiver_.erase(to);
    size_ -= results;
  }

  std::map<std::uint32_t, ForOne> by_receiver_;
  std::size_t size_ = 0;
};

}  // namespace poise
