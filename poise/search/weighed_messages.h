// Messages of one task, gathered by what they weigh at some place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace poise {

/// A sum that does not depend on the order in which its terms came, so that two ways to one group
/// of messages agree to the last bit. What was added last can be taken away again. Adding and
/// taking away cost O(log distinct weights) and a shift of the larger ones; the sum, O(distinct
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
  /// Takes away what was added after size() was this.
  void shrink_to(std::size_t size) {
    for (; added_.size() > size; added_.pop_back()) {
      const auto term = find(added_.back().weight);
      term->count -= added_.back().count;
      if (term->count == 0 && terms_.size() > kFewWeights) terms_.erase(term);
    }
  }
  /// The sum over distinct weights, ascending, of weight times count.
  double sum() const {
    double sum = 0;
    for (const Term& term : terms_) sum += term.weight * static_cast<double>(term.count);
    return sum;
  }

 private:
  struct Term {
    double weight;
    std::uint64_t count;
  };
  /// Of so few, those without messages are kept: the next task will have the same weights.
  static constexpr std::size_t kFewWeights = 8;

  std::vector<Term>::iterator find(double weight) {
    return std::lower_bound(terms_.begin(), terms_.end(), weight,
                            [](const Term& term, double wanted) { return term.weight < wanted; });
  }
  std::vector<Term> terms_;  // by weight, ascending
  std::vector<Term> added_;
};

}  // namespace poise
