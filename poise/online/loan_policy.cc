// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/loan_policy.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace poise {

namespace {

using KnownBorrower = std::pair<Borrower, LoanProblem::Known>;

// A sort key: ranks that will be idle sooner come first; ties: the nearest first.
std::tuple<double, double, std::uint32_t> order_of(const KnownBorrower& known) {
  return {known.first.busy_s, known.first.distance, known.first.rank};
}

// Returns how long the rank is busy with the tasks that it reported. If it has not reported how
// long they take, the average time of the lender's tasks is used.
double reported_busy_s(const Peer& peer, const QueueState& queue) {
  const double stated_s = peer.busy_s, threads = peer.threads;
  return peer.queued > 0 && peer.task_s <= 0
             ? std::max(stated_s, peer.queued * queue.mean_s() / threads)
             : stated_s;
}

// Keeps the kMaxCandidates ranks that will be idle soonest.
class SoonestIdle {
 public:
  bool may_take(const Peer& peer, const QueueState& queue, const PeerTable& peers) const {
    if (kept_.size() < lending_tuning::kMaxCandidates) return true;
    // A lower bound on how long the rank is busy: tasks in flight and uncertainty only add time.
    const double least_s = reported_busy_s(peer, queue), most_s = kept_.back().first.busy_s;
    if (least_s != most_s) return least_s < most_s;  // avoids the slower search for the distance
    return std::tuple(least_s, peers.locality_of(peer.rank).distance, peer.rank) <
           order_of(kept_.back());
  }
  void take(const KnownBorrower& known) {
    const bool is_full = kept_.size() == lending_tuning::kMaxCandidates;
    if (is_full && order_of(kept_.back()) < order_of(known)) return;
    kept_.insert(std::ranges::upper_bound(kept_, order_of(known), {}, order_of), known);
    if (kept_.size() > lending_tuning::kMaxCandidates) kept_.pop_back();
  }
  const std::vector<KnownBorrower>& kept() const { return kept_; }

 private:
  std::vector<KnownBorrower> kept_;  // sorted by order_of(), the soonest idle first
};

// Returns what is known about a rank. If the table has forgotten the rank since that rank sent a
// request, only its rank number is known.
Peer peer_or_unknown(const PeerTable& peers, std::uint32_t rank, std::uint64_t wait) {
  if (const Peer* const peer = peers.find(rank)) return *peer;
  Peer unknown;
  unknown.rank = rank;
  unknown.wait = wait;
  return unknown;
}

double slowness_of(const Peer& peer, bool asks, const QueueState& queue,
                   const LendingCosts& costs) {
  if (peer.num_results > 0) return peer.slowness;
  const bool has_lent_all = asks && peer.has_lent && queue.all_borrowed;
  if (!has_lent_all || peer.task_s <= 0 || queue.mean_s() <= 0) return costs.guessed_slowness();
  return peer.task_s / queue.mean_s();
}

}  // namespace

bool Thieves::add(const Thief& thief) {
  remove(thief.rank);
  const auto pending = std::ranges::count(thieves_, false, &Thief::is_lasting);
  if (!thief.is_lasting && std::cmp_greater_equal(pending, lending_tuning::kMaxSearched))
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

LendingView view_of_lender(std::uint32_t rank, const QueueState& queue, const LendingCosts& costs,
                           const LoanMoment& moment) {
  return {.task_s = queue.mean_s(),
          .queued = static_cast<std::uint32_t>(std::min<std::size_t>(queue.lendable, UINT32_MAX)),
          .busy_s = queue.running_s / moment.threads,
          .threads = static_cast<double>(moment.threads),
          .lend_s = costs.overhead_s(queue, queue.mean_bytes()),
          .rank = rank};
}

double share_remaining(const Peer& peer, double now_s) {
  const double since_s = std::max(0.0, now_s - peer.reported_at_s);
  const double busy_s = peer.busy_s;
  return busy_s > since_s ? 1 - since_s / busy_s : 0;
}

double doubt_s(const Borrower& other, double tasks_there, const QueueState& queue, double threads) {
  const double deviation_s = queue.mean_deviation_s();
  if (deviation_s <= 0 || other.busy_s <= 0) return 0;
  // The deviations of single tasks are independent, so the variance of the sum over n tasks grows
  // with n. Each thread runs an equal share of the tasks.
  const auto variance = [](double tasks, double on) { return tasks / (on * on); };
  const double here = variance(queue.lendable + queue.running, threads);
  const double there =
      other.slowness * other.slowness * variance(tasks_there + other.threads, other.threads);
  return deviation_s * std::sqrt((here + there) * queue.mean_s() / other.delay_s);
}

Borrower borrower_at(const Peer& peer, bool asks, const PeerLocality& at, const QueueState& queue,
                     const LendingCosts& costs) {
  const double bytes = queue.mean_bytes(), threads = peer.threads;
  const double byte_s = costs.links.seconds_per_byte(at), data_s = bytes * byte_s;
  const double slowness = slowness_of(peer, asks, queue, costs);
  return {.rank = peer.rank,
          .busy_s = reported_busy_s(peer, queue) + peer.in_flight_s * slowness / threads,
          .threads = threads,
          .slowness = slowness,
          .delay_s = 2 * costs.links.latency_s(at) + data_s,
          .extra_s = costs.overhead_s(queue, bytes) + data_s,
          .byte_s = byte_s,
          .asks = asks,
          .distance = at.distance};
}

// If the thread is preempted during a decision, the decision seems to take milliseconds, and the
// next decision would be late. So the shorter one of the last two durations counts.
void LoanPolicy::decided(double now_s, double cost_s) {
  const double usual_s = std::min(cost_s, std::exchange(last_cost_s_, cost_s));
  next_decision_s_ =
      now_s + std::max(lending_tuning::kMinPause_s, lending_tuning::kDecisionCostFactor * usual_s);
  next_asked_s_ = now_s + usual_s;
}

void LoanPolicy::pose(LoanProblem& problem, const QueueState& queue, const PeerTable& peers,
                      const Thieves& thieves, const LendingCosts& costs,
                      const LoanMoment& moment) const {
  std::vector<KnownBorrower> asking;
  std::vector<std::uint32_t> thief_ranks;
  const bool takes_all = settings_.sees_all_ranks();
  const auto borrower = [&](const Peer& peer, const Thief* thief) {
    KnownBorrower known{
        borrower_at(peer, thief != nullptr, peers.locality_of(peer.rank), queue, costs),
        {peer.queued, peer.in_flight}};
    Borrower& other = known.first;
    // A rank sends a request when it is idle, or when it knows when its last task will end. So a
    // new request shows that one of the two is true. A lasting request, which its receiver
    // remembers, shows neither: it may have been sent long ago.
    const bool is_certain = takes_all || (thief && !thief->is_lasting);
    if (!is_certain)
      other.busy_s +=
          doubt_s(other, known.second.queued + known.second.in_flight, queue, moment.threads);
    return known;
  };
  for (const Thief& thief : thieves.all()) {
    thief_ranks.push_back(thief.rank);
    if (thief.wait != moment.wait) continue;
    const Peer peer = peer_or_unknown(peers, thief.rank, moment.wait);
    if (peer.is_in(moment.wait)) asking.push_back(borrower(peer, &thief));
  }
  std::ranges::sort(thief_ranks);
  SoonestIdle silent;
  // Borrowed tasks are passed on only to ranks that request tasks. So if all tasks are borrowed,
  // the plan leaves out ranks without a request: tasks planned for those ranks would stay here.
  const bool may_push = settings_.push && (takes_all || !queue.all_borrowed);
  for (const Peer& peer : may_push ? peers.all() : std::span<const Peer>{}) {
    if (!peer.is_in(moment.wait) || (!takes_all && !silent.may_take(peer, queue, peers))) continue;
    if (std::ranges::binary_search(thief_ranks, peer.rank)) continue;
    if (takes_all)
      asking.push_back(borrower(peer, nullptr));
    else
      silent.take(borrower(peer, nullptr));
  }
  asking.insert(asking.end(), silent.kept().begin(), silent.kept().end());
  std::ranges::sort(asking, {}, [](const KnownBorrower& a) {
    return std::tuple(a.first.distance, a.first.rank);
  });
  for (const auto& [other, known] : asking) {
    problem.others.push_back(other);
    problem.known.push_back(known);
  }
  problem.view = view_of_lender(peers.self(), queue, costs, moment);
  problem.view.others = problem.others;
}

std::vector<Loan> LoanPolicy::loans(const LoanProblem& problem, const QueueState& queue,
                                    const LendingCosts& costs, double now_s,
                                    const std::function<std::vector<QueuedTask>()>& named_queue) {
  if (problem.others.empty()) return {};
  return settings_.policy->loans({.problem = problem,
                                  .queue = queue,
                                  .costs = costs,
                                  .now_s = now_s,
                                  .min_gain = settings_.min_gain,
                                  .thresholds = settings_.thresholds,
                                  .named_queue = named_queue},
                                 memory_);
}

std::size_t LoanPolicy::room_at(const Peer& peer, double task_bytes, double now_s) const {
  const double there = peer.queued * share_remaining(peer, now_s) + peer.in_flight;
  const double most = std::max(lending_tuning::kMaxWaitingPerThread * peer.threads,
                               settings_.batch_bytes / std::max(task_bytes, 1.0));
  return static_cast<std::size_t>(std::max(0.0, most - there));
}

}  // namespace poise
