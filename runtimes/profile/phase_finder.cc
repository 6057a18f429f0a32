// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/phase_finder.h"

#include <algorithm>

#include "runtimes/profile/hash.h"
#include "runtimes/profile/tuning.h"

namespace poise::profile {

namespace {

// The base of the polynomial hash of a sequence of tokens, computed modulo 2^64.
constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15u | 1;

}  // namespace

bool PhaseFinder::add(std::uint64_t token, bool synchronises) {
  if (!pattern_.empty()) return follow(token);
  if (tokens_.size() == tuning::kMaxTokens) start_over();
  if (hashes_.empty()) hashes_.push_back(0);
  tokens_.push_back(token);
  hashes_.push_back(hashes_.back() * kBase + mixed(token));
  if (synchronises) synchronised_ = tokens_.size();
  if (tokens_.size() < next_search_) return false;
  search();
  next_search_ = tokens_.size() + 1 + tokens_.size() / 8;
  return !pattern_.empty() && position_ == end_;
}

void PhaseFinder::search() {
  const std::size_t size = tokens_.size(), since = size - synchronised_;
  std::uint64_t power = 1;
  for (std::size_t period = 1; period * tuning::kRepeats <= size; ++period) {
    power *= kBase;
    if (period <= since) continue;  // no collective in the sequence synchronises all ranks

    const auto repeat = [&](std::size_t which) {  // hash of the which-th repeat from the end
      const std::size_t end = size - which * period;
      return hashes_[end] - hashes_[end - period] * power;
    };
    bool agrees = true;
    for (std::size_t which = 1; agrees && which < tuning::kRepeats; ++which)
      agrees = repeat(which) == repeat(0);
    if (!agrees) continue;
    pattern_.assign(tokens_.end() - period, tokens_.end());
    position_ = odd_ = seen_ = 0;
    end_ = (period - since) % period;
    return;
  }
}

bool PhaseFinder::follow(std::uint64_t token) {
  if (++seen_ > tuning::kMaxTokens) {  // halves seen_ and odd_, so that old tokens count less
    seen_ /= 2;
    odd_ /= 2;
  }
  if (token != pattern_[position_]) {
    ++odd_;
    if (odd_ * tuning::kOddShare > std::max(seen_, 2 * tuning::kOddShare)) start_over();
    return false;
  }
  position_ = (position_ + 1) % pattern_.size();
  return position_ == end_;
}

void PhaseFinder::start_over() {
  tokens_.clear();
  hashes_.clear();
  pattern_.clear();
  next_search_ = synchronised_ = 0;
}

}  // namespace poise::profile
