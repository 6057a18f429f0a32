// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/termination.h"

#include <algorithm>
#include <utility>

#include "poise/base/check.h"
#include "poise/online/lending_tuning.h"

namespace poise {

using Kind = TerminationMessage::Kind;

namespace {

using lending_tuning::kMaxAtOnce;

// Adds the children of the member at `position` to `tree`. The `size` members form a tree that is
// numbered like a heap: the member at position p has at most kMaxAtOnce children, from position
// kMaxAtOnce * p + 1 on.
template <typename MemberAt>
void add_children(TerminationTree& tree, std::size_t position, std::size_t size,
                  const MemberAt& member_at) {
  for (std::size_t child = kMaxAtOnce * position + 1;
       child <= kMaxAtOnce * position + kMaxAtOnce && child < size; ++child)
    tree.children.push_back(member_at(child));
}

template <typename InNode, typename Leader>
TerminationTree tree_at(std::size_t in_node, std::size_t node_size, const InNode& member,
                        std::size_t node, std::size_t num_nodes, const Leader& leader) {
  TerminationTree tree;
  if (in_node > 0)
    tree.parent = member((in_node - 1) / kMaxAtOnce);
  else if (node > 0)
    tree.parent = leader((node - 1) / kMaxAtOnce);
  add_children(tree, in_node, node_size, member);
  if (in_node == 0) add_children(tree, node, num_nodes, leader);
  return tree;
}

}  // namespace

TerminationTree termination_tree(std::uint32_t rank, std::span<const std::uint32_t> node,
                                 std::span<const std::uint32_t> leaders) {
  const auto position = [](std::span<const std::uint32_t> in, std::uint32_t of) {
    return std::ranges::lower_bound(in, of) - in.begin();
  };
  return tree_at(
      position(node, rank), node.size(), [=](std::size_t i) { return node[i]; },
      position(leaders, node.front()), leaders.size(), [=](std::size_t i) { return leaders[i]; });
}

TerminationTree termination_tree(std::uint32_t rank, std::uint32_t num_ranks,
                                 std::uint32_t ranks_per_node) {
  const std::uint32_t node = rank / ranks_per_node, first = node * ranks_per_node;
  const auto rank_at = [](std::size_t from, std::size_t step) {
    return [=](std::size_t i) { return static_cast<std::uint32_t>(from + i * step); };
  };
  return tree_at(rank - first, std::min(ranks_per_node, num_ranks - first), rank_at(first, 1), node,
                 (num_ranks + ranks_per_node - 1) / ranks_per_node, rank_at(0, ranks_per_node));
}

TerminationDetector::TerminationDetector(TerminationTree tree)
    : parent_(tree.parent), children_(std::move(tree.children)) {
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
  const std::size_t child = std::find(children_.begin(), children_.end(), from) - children_.begin();
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

}  // namespace poise
