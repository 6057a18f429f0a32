// SPDX-License-Identifier: BSD-3-Clause
// A task's messages by weight; their sum does not depend on the order in which they are added.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace poise {

/// The counts of messages by weight. The order in which messages were added does not change a bit
/// of sum(). The messages added last are removed first. Adding and removing take O(log distinct
/// weights), plus the time to shift larger weights in the sorted list. sum() takes O(distinct
/// weights).
class WeighedMessages {
 public:
  void add(double weight, std::uint64_t count) {
    if (count == 0) return;
    added_.push_back({weight, count});
    const auto term = find(weight);
    if (term != terms_.end() && term->weight == weight)
      term->count += count;
    else
      terms_.insert(term, {weight, count});
  }
  std::size_t size() const { return added_.size(); }
  /// Removes all messages that were added since size() had this value.
  void shrink_to(std::size_t size) {
    for (; added_.size() > size; added_.pop_back()) {
      const auto term = find(added_.back().weight);
      term->count -= added_.back().count;
      if (term->count == 0 && terms_.size() > kFewWeights) terms_.erase(term);
    }
  }
  /// Sum over distinct weights, in ascending order, of weight times count.
  double sum() const {
    double sum = 0;
    for (const Term& term : terms_) sum += term.weight * term.count;
    return sum;
  }

 private:
  struct Term {
    double weight;
    std::uint64_t count;
  };
  /// While the list has at most this many weights, a weight whose count drops to 0 stays in the
  /// list, because the next task will probably have messages of that weight.
  static constexpr std::size_t kFewWeights = 8;

  std::vector<Term>::iterator find(double weight) {
    return std::lower_bound(terms_.begin(), terms_.end(), weight,
                            [](const Term& term, double wanted) { return term.weight < wanted; });
  }
  std::vector<Term> terms_;  // by weight, ascending
  std::vector<Term> added_;
};

}  // namespace poise
