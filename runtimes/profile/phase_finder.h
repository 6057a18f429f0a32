// SPDX-License-Identifier: BSD-3-Clause
// Finds the iterations of a program in the string of its collectives: every rank has the same
// string, so that all find the same iterations without a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace poise::profile {

/// A token stands for one collective. Once the last kRepeats repeats of some period agree, each
/// further period is an iteration. Odd tokens between, such as those of an output every tenth
/// iteration, are tolerated up to one in kOddShare; then the search begins anew.
///
/// O(1) per token, amortised; memory for the last kMaxTokens tokens.
class PhaseFinder {
 public:
  /// Takes the next token. True if an iteration ends with it.
  bool add(std::uint64_t token);

  /// Tokens per iteration; 0: none found.
  std::size_t period() const { return pattern_.size(); }

 private:
  void search();
  bool follow(std::uint64_t token);
  void start_over();

  std::vector<std::uint64_t> tokens_, hashes_;  // hashes_[i]: of tokens_[0..i)
  std::size_t next_search_ = 0;                 // number of tokens at which to search again
  std::vector<std::uint64_t> pattern_;
  std::size_t position_ = 0;  // in the pattern
  std::size_t odd_ = 0, seen_ = 0;
};

}  // namespace poise::profile
