// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/loan_policy.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace poise {

namespace {

using KnownBorrower = std::pair<Borrower, LoanProblem::Known>;

// Returns what is known about a rank. A rank that sent a request may have been forgotten; then only
// its number is known.
Peer peer_or_unknown(const PeerTable& peers, std::uint32_t rank, std::uint64_t wait) {
  if (const Peer* const peer = peers.find(rank)) return *peer;
  Peer unknown;
  unknown.rank = rank;
  unknown.wait = static_cast<std::uint32_t>(wait);
  return unknown;
}

// Returns loans of functions whose run time is unknown: one task per thread for each idle rank that
// sends a request. The lender keeps one task for each of its threads, minus the threads that pinned
// tasks will occupy.
std::vector<Loan> loans_to_learn_times(const LoanProblem& problem, const QueueState& queue) {
  std::vector<Loan> loans;
  const auto pinned = static_cast<double>(queue.queued - queue.lendable);
  double remaining =
      static_cast<double>(queue.lendable) - std::max(0.0, problem.view.threads - pinned);
  for (std::size_t i = 0; i < problem.others.size(); ++i) {
    const Borrower& other = problem.others[i];
    if (problem.known[i].queued > 0 || problem.known[i].in_flight > 0) continue;
    const double tasks = std::min<double>(remaining, other.threads);
    if (tasks >= 1 && other.asks) loans.push_back({other.rank, static_cast<std::uint32_t>(tasks)});
    remaining -= tasks;
  }
  return loans;
}

// Returns the seconds that exploratory loans waste if it turns out that lending does not pay: the
// overhead of the lender, and the additional run time on a borrower that is slower.
double exploration_cost_s(const std::vector<Loan>& loans, const LendingView& view) {
  double seconds = 0;
  for (const Loan& loan : loans)
    for (const Borrower& other : view.others)
      if (other.rank == loan.rank)
        seconds += loan.tasks * (view.lend_s + view.task_s * std::max(0.0, other.slowness - 1));
  return seconds;
}

}  // namespace

bool Thieves::add(const Thief& thief) {
  remove(thief.rank);
  const auto pending = std::ranges::count(thieves_, false, &Thief::is_lasting);
  if (!thief.is_lasting && std::cmp_greater_equal(pending, lending_tuning::kMaxPending))
    return false;
  thieves_.push_back(thief);
  return true;
}

const Thief* Thieves::find(std::uint32_t rank) const {
  const auto found = std::ranges::find(thieves_, rank, &Thief::rank);
  return found == thieves_.end() ? nullptr : &*found;
}

void Thieves::remove(std::uint32_t rank) {
  std::erase_if(thieves_, [=](const Thief& thief) { return thief.rank == rank; });
}

std::vector<Thief> Thieves::take_declined(std::uint64_t wait) {
  std::vector<Thief> declined;
  std::erase_if(thieves_, [&](const Thief& thief) {
    if (thief.is_lasting || thief.wait != wait) return false;
    declined.push_back(thief);
    return true;
  });
  return declined;
}

void Thieves::enter(std::uint64_t wait) {
  std::erase_if(thieves_, [=](const Thief& thief) { return thief.wait < wait; });
}

bool Thieves::any(std::uint64_t wait) const {
  return std::ranges::any_of(
      thieves_, [=](const Thief& thief) { return !thief.is_lasting && thief.wait == wait; });
}

double share_remaining(const Peer& peer, double now_s) {
  const double since_s = std::max(0.0, now_s - peer.stated_at_s);
  const double busy_s = static_cast<double>(peer.busy_s);
  return busy_s > since_s ? 1 - since_s / busy_s : 0;
}

Borrower borrower_at(const Peer& peer, const PeerLocality& at, const QueueState& queue,
                     const LendingCosts& costs) {
  const double bytes = queue.mean_bytes(), threads = peer.threads;
  const double byte_s = costs.links.seconds_per_byte(at), data_s = bytes * byte_s;
  const double slowness = static_cast<double>(peer.slowness);
  const double stated_s = static_cast<double>(peer.busy_s);
  // If the borrower has tasks but has not stated how long they take, the average time of the
  // lender's tasks is used.
  const double busy_s =
      peer.queued > 0 && peer.task_s <= 0
          ? std::max(stated_s, static_cast<double>(peer.queued) * queue.mean_s() / threads)
          : stated_s;
  return {.rank = peer.rank,
          .busy_s = busy_s + static_cast<double>(peer.in_flight_s) * slowness / threads,
          .threads = threads,
          .slowness = slowness,
          .delay_s = 2 * costs.links.latency_s(at) + data_s,
          .extra_s = costs.overhead_s(queue, bytes) + data_s,
          .byte_s = byte_s,
          .asks = false,
          .distance = at.distance};
}

void LoanPolicy::decided(double now_s, double cost_s) {
  next_decision_s_ = now_s + std::max(lending_tuning::kDecisionInterval_s,
                                      lending_tuning::kDecisionCostFactor * cost_s);
  next_asked_s_ = now_s + lending_tuning::kAskedCostFactor * cost_s;
}

void LoanPolicy::pose(LoanProblem& problem, const QueueState& queue, const PeerTable& peers,
                      const Thieves& thieves, const LendingCosts& costs,
                      const LoanMoment& moment) const {
  std::vector<KnownBorrower> asking, silent;
  const auto borrower = [&](const Peer& peer, bool asks) {
    KnownBorrower known{borrower_at(peer, peers.locality_of(peer.rank), queue, costs),
                        {static_cast<double>(peer.queued), peer.in_flight}};
    known.first.asks = asks;
    return known;
  };
  for (const Thief& thief : thieves.all()) {
    if (thief.wait != moment.wait) continue;
    const Peer peer = peer_or_unknown(peers, thief.rank, moment.wait);
    if (peer.is_in(moment.wait)) asking.push_back(borrower(peer, true));
  }
  const bool takes_all = settings_.takes_all || settings_.choice != LoanSettings::Choice::cost;
  for (const Peer& peer : settings_.push ? peers.all() : std::span<const Peer>{})
    if (peer.is_in(moment.wait) && !thieves.find(peer.rank))
      silent.push_back(borrower(peer, false));
  if (!takes_all && silent.size() > lending_tuning::kMaxIdle) {
    const auto rank_of = [&](const KnownBorrower& a) {
      return std::tuple(a.first.busy_s, a.first.distance, a.first.rank);
    };
    std::ranges::partial_sort(silent, silent.begin() + lending_tuning::kMaxIdle, {}, rank_of);
    silent.resize(lending_tuning::kMaxIdle);
  }
  asking.insert(asking.end(), silent.begin(), silent.end());
  std::ranges::sort(asking, {}, [](const KnownBorrower& a) {
    return std::tuple(a.first.distance, a.first.rank);
  });
  for (const auto& [other, known] : asking) {
    problem.others.push_back(other);
    problem.known.push_back(known);
  }
  problem.view = {
      .task_s = queue.mean_s(),
      .queued = static_cast<std::uint32_t>(std::min<std::size_t>(queue.lendable, UINT32_MAX)),
      .busy_s = queue.running_s / moment.threads,
      .threads = static_cast<double>(moment.threads),
      .lend_s = costs.overhead_s(queue, queue.mean_bytes()),
      .others = problem.others,
      .rank = peers.self()};
}

std::vector<Loan> LoanPolicy::loans(const LoanProblem& problem, const QueueState& queue,
                                    const LendingCosts& costs, double now_s,
                                    const std::function<std::vector<QueuedTask>()>& named_queue) {
  if (problem.others.empty()) return {};
  switch (settings_.choice) {
    case LoanSettings::Choice::cost:
      return queue.all_times_known ? by_cost(problem, queue, costs, now_s, named_queue)
                                   : loans_to_learn_times(problem, queue);
    case LoanSettings::Choice::none: return {};
    default: return by_count(problem);
  }
}

// If tasks differ in cost, they are chosen one by one, because their number says little about the
// work.
std::vector<Loan> LoanPolicy::by_cost(const LoanProblem& problem, const QueueState& queue,
                                      const LendingCosts& costs, double now_s,
                                      const std::function<std::vector<QueuedTask>()>& named_queue) {
  const LendingView& view = problem.view;
  const double min_gain = settings_.min_gain;
  const bool sized = queue.tasks_differ && queue.lendable <= lending_tuning::kMaxTasksBySize;
  if (sized && !could_gain(view, min_gain)) return {};
  std::vector<QueuedTask> tasks;
  if (sized) tasks = named_queue();
  for (QueuedTask& task : tasks) task.lend_s = costs.overhead_s(queue, task.bytes);
  LendingView whole = view;
  whole.queue = tasks;
  auto loans = sized ? sized_loans(whole, min_gain) : cost_aware_loans(view, min_gain);
  if (!loans.empty() || now_s < next_exploration_s_) return loans;
  loans = exploration_loans(whole, TaskOverhead().seconds(queue.mean_bytes()), min_gain);
  next_exploration_s_ =
      now_s + std::max(lending_tuning::kExplorationInterval_s,
                       exploration_cost_s(loans, view) / lending_tuning::kExplorationShare);
  return loans;
}

std::vector<Loan> LoanPolicy::by_count(const LoanProblem& problem) const {
  std::vector<double> tasks{static_cast<double>(problem.view.queued)};  // this rank first
  for (const LoanProblem::Known& known : problem.known)
    tasks.push_back(known.queued + static_cast<double>(known.in_flight));
  auto loans = settings_.choice == LoanSettings::Choice::paired
                   ? paired_loans(tasks, 0, settings_.thresholds)
                   : lightest_loans(tasks, 0, settings_.thresholds);
  for (Loan& loan : loans) loan.rank = problem.others[loan.rank - 1].rank;
  return loans;
}

std::size_t LoanPolicy::room_at(const Peer& peer, double task_bytes, double now_s) const {
  const double there = static_cast<double>(peer.queued) * share_remaining(peer, now_s) +
                       static_cast<double>(peer.in_flight);
  const double most = std::max(lending_tuning::kMaxWaitingPerThread * peer.threads,
                               settings_.batch_bytes / std::max(task_bytes, 1.0));
  return static_cast<std::size_t>(std::max(0.0, most - there));
}

}  // namespace poise
