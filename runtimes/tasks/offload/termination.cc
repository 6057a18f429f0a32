// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/offload/termination.h"

#include <algorithm>

#include "poise/base/check.h"

namespace poise::tasks {

using Kind = TerminationMessage::Kind;

TerminationDetector::TerminationDetector(std::uint32_t rank, std::uint32_t num_ranks) {
  if (rank > 0) parent_ = (rank - 1) / 2;
  for (const std::uint32_t child : {2 * rank + 1, 2 * rank + 2})
    if (child < num_ranks) children_.push_back(child);
  reports_.resize(children_.size());
  entered_.resize(children_.size() + 1);
}

void TerminationDetector::enter(std::vector<TerminationMessage>& out) {
  POISE_CHECK(done_);
  ++wait_;
  round_ = 1;
  done_ = reported_ = false;
  finished_before_.reset();
  if (parent_) out.push_back({*parent_, Kind::entered, wait_});
  tell_children(Kind::entered, out);
}

void TerminationDetector::idle(std::uint64_t created, std::uint64_t finished,
                               std::vector<TerminationMessage>& out) {
  while (!done_ && !reported_) {
    for (const Report& report : reports_)
      if (report.wait != wait_ || report.round != round_) return;
    std::uint64_t all_created = created, all_finished = finished;
    for (const Report& report : reports_) {
      all_created += report.created;
      all_finished += report.finished;
    }
    if (parent_) {
      reported_ = true;
      out.push_back({*parent_, Kind::report, wait_, round_, all_created, all_finished});
    } else {
      conclude(all_created, all_finished, out);
    }
  }
}

void TerminationDetector::conclude(std::uint64_t created, std::uint64_t finished,
                                   std::vector<TerminationMessage>& out) {
  if (finished_before_ == created) {
    done_ = true;
    tell_children(Kind::done, out);
    return;
  }
  finished_before_ = finished;
  ++round_;
  tell_children(Kind::again, out);
}

void TerminationDetector::handle(std::uint32_t from, const TerminationMessage& message,
                                 std::vector<TerminationMessage>& out) {
  const auto child = static_cast<std::size_t>(std::find(children_.begin(), children_.end(), from) -
                                              children_.begin());
  switch (message.kind) {
    case Kind::entered: entered_[child] = message.wait; break;
    case Kind::report:
      POISE_CHECK(child < children_.size());
      reports_[child] = {message.wait, message.round, message.created, message.finished};
      break;
    case Kind::again:
      POISE_CHECK(message.wait == wait_ && message.round == round_);
      ++round_;
      reported_ = false;
      tell_children(Kind::again, out);
      break;
    case Kind::done:
      POISE_CHECK(message.wait == wait_);
      done_ = true;
      tell_children(Kind::done, out);
      break;
  }
}

void TerminationDetector::tell_children(Kind kind, std::vector<TerminationMessage>& out) const {
  // An "again" message carries the number of the round that has just ended.
  const std::uint32_t round = kind == Kind::again ? round_ - 1 : round_;
  for (const std::uint32_t child : children_) out.push_back({child, kind, wait_, round});
}

std::vector<std::uint32_t> TerminationDetector::missing() const {
  std::vector<std::uint32_t> ranks;
  for (std::size_t i = 0; i < children_.size(); ++i)
    if (entered_[i] < wait_) ranks.push_back(children_[i]);
  if (parent_ && entered_.back() < wait_) ranks.push_back(*parent_);
  return ranks;
}

}  // namespace poise::tasks
