// SPDX-License-Identifier: BSD-3-Clause
// Finds the iterations of a program in the sequence of its collectives. Every rank sees the same
// sequence, so all ranks find the same iterations without messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace poise::profile {

/// Finds the iterations of a program. A token represents one collective. When the same sequence of
/// tokens has occurred kRepeats times in a row, each further occurrence of it is an iteration.
/// Tokens that do not fit the sequence, such as those of an output at every tenth iteration, are
/// ignored as long as at most one token in kOddShare does not fit. If more do not fit, the search
/// starts again.
///
/// An iteration ends with a collective in which all ranks wait for all others, so that all ranks
/// begin the next one together. A sequence without such a collective is not an iteration.
///
/// O(1) per token, amortised; stores at most kMaxTokens tokens.
class PhaseFinder {
 public:
  /// Adds the next token. Returns true if it ends an iteration. `synchronises`: in this collective,
  /// all ranks wait for all others.
  bool add(std::uint64_t token, bool synchronises);

  /// Length of the recognised iteration, in tokens; 0 if no repeated sequence has been found yet.
  std::size_t period() const { return pattern_.size(); }

 private:
  void search();
  bool follow(std::uint64_t token);
  void start_over();

  std::vector<std::uint64_t> tokens_, hashes_;  // hashes_[i]: hash of tokens_[0..i)
  std::size_t next_search_ = 0;                 // number of tokens at which to search again
  std::vector<std::uint64_t> pattern_;
  std::size_t synchronised_ = 0;  // number of tokens up to the last one that synchronises
  std::size_t end_ = 0;           // position in the pattern after which an iteration ends
  std::size_t position_ = 0;      // in the pattern
  std::size_t odd_ = 0, seen_ = 0;
};

}  // namespace poise::profile
