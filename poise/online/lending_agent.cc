// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/lending_agent.h"

#include <algorithm>
#include <cmath>

#include "poise/online/moving_average.h"

namespace poise {

LendingAgent::LendingAgent(std::uint32_t self, std::uint32_t num_ranks,
                           PeerTable::LocalityOf locality_of, const Settings& settings,
                           std::size_t max_peers, std::vector<std::uint32_t> node)
    : pull_(settings.pull),
      peers_(self, num_ranks, std::move(locality_of), max_peers),
      node_(std::move(node)),
      loans_(settings.loans),
      random_(self + 1) {}

void LendingAgent::enter(std::uint64_t wait, double now_s) {
  wait_ = wait;
  wait_since_s_ = now_s;
  is_inside_ = true;
  peers_.enter();
  thieves_.enter(wait);
  steal_.enter(now_s);
  std::erase_if(to_decline_, [=](const auto& entry) { return entry.second.wait < wait; });
}

Load LendingAgent::own_load(const QueueState& queue, double now_s) const {
  const float queued = queue.lendable;
  const double known_s = queue.all_times_known ? queue.mean_s() : 0;
  const double task_s = queue.lendable > 0 ? known_s : queue.ran_s;
  return {.rank = peers_.self(),
          .version = version_,
          .wait = is_inside_ ? wait_ : 0,
          .reported_at_s = now_s,
          .busy_s = (queue.queued_s + queue.running_s) / threads_,
          .task_s = static_cast<float>(task_s),
          .queued = queued,
          .threads = static_cast<float>(threads_),
          .reported = reported_load_ ? static_cast<float>(*reported_load_) : queued};
}

Load LendingAgent::next_own_load(const QueueState& queue, double now_s) {
  ++version_;
  return own_load(queue, now_s);
}

News LendingAgent::news_for(std::uint32_t to, const QueueState& queue, double now_s) {
  News news{.own = next_own_load(queue, now_s),
            .others = peers_.recent_for(to, lending_tuning::kLoadsPerMessage)};
  const Peer* const peer = peers_.find(to);
  if (peer && peer->unacknowledged > 0)
    news.received = std::exchange(peers_.at(to).unacknowledged, 0);
  news.confirms_results = to_confirm_.erase(to) > 0;
  return news;
}

// Ranks of one node share a clock, so loads that come from the same node keep the time at which
// they were reported. Loads that come from another node get the time of their arrival instead.
void LendingAgent::hear(std::uint32_t from, const News& news, double now_s) {
  const bool has_other_clock = is_elsewhere(from);
  const auto update = [&](Load load) {
    if (has_other_clock) load.reported_at_s = now_s;
    peers_.update(load);
  };
  update(news.own);
  for (const Load& load : news.others) update(load);
  if (news.confirms_results) unconfirmed_.erase(from);
  if (news.received == 0) return;
  Peer& peer = peers_.at(from);
  const std::uint32_t arrived = std::min(news.received, peer.in_flight);
  const std::uint32_t left = peer.in_flight - arrived;
  // When some of the tasks in flight have arrived, the expected time of all tasks in flight is
  // reduced in proportion to their number. So a rank needs no list of the tasks that it has sent.
  peer.in_flight_s *= left == 0 ? 0 : left / static_cast<float>(peer.in_flight);
  peer.in_flight = left;
}

bool LendingAgent::gossip_is_due(const QueueState& queue, double now_s) {
  if (!loans_.settings().push && !pull_) return false;  // no rank would use the load
  if (queue.lendable <= threads_ || now_s < next_gossip_s_) return false;
  next_gossip_s_ = now_s + lending_tuning::kNewsDelay_s;
  return true;
}

bool LendingAgent::asked_by(const Thief& thief) {
  if (thief.wait < wait_ || (thief.wait == wait_ && !is_inside_))
    return true;  // needs no answer: the request belongs to a wait that has ended
  to_decline_.erase(thief.rank);
  const bool is_stored = thieves_.add(thief);
  if (!is_stored) to_decline_[thief.rank] = thief;
  return is_stored;
}

void LendingAgent::decline_all() {
  for (const Thief& thief : thieves_.take_declined(wait_)) to_decline_[thief.rank] = thief;
}

bool LendingAgent::lending_is_due(double now_s) const {
  return loans_.is_due(now_s, thieves_.any(wait_));
}

void LendingAgent::pose(LoanProblem& problem, const QueueState& queue, double now_s) const {
  const LoanMoment moment{.now_s = now_s, .wait = wait_, .threads = threads_};
  if (passes_on(queue) && passed_on_after_ == queue.ran)
    problem.view = view_of_lender(peers_.self(), queue, costs_, moment);
  else
    loans_.pose(problem, queue, peers_, thieves_, costs_, moment);
}

std::vector<Loan> LendingAgent::loans(const LoanProblem& problem, const QueueState& queue,
                                      double now_s,
                                      const std::function<std::vector<QueuedTask>()>& named_queue) {
  auto loans = loans_.loans(problem, queue, costs_, now_s, named_queue);
  if (!loans.empty() && passes_on(queue)) passed_on_after_ = queue.ran;
  wants_collector_ = is_bottleneck(problem.view, peers_.num_ranks());
  return loans;
}

bool LendingAgent::can_borrow(std::uint32_t rank) const {
  if (rank == peers_.self() || rank >= peers_.num_ranks()) return false;
  const Peer* const peer = peers_.find(rank);
  const bool asks = is_thief(rank);
  return peer ? peer->is_in(wait_) && (loans_.settings().push || asks) : asks;
}

Borrower LendingAgent::borrower(std::uint32_t rank, const QueueState& queue) const {
  const Peer* const known = peers_.find(rank);
  Peer peer = known ? *known : Peer();
  peer.rank = rank;
  return borrower_at(peer, is_thief(rank), peers_.locality_of(rank), queue, costs_);
}

std::size_t LendingAgent::room_at(std::uint32_t rank, double task_bytes, double now_s) const {
  const Peer* const peer = peers_.find(rank);
  return loans_.room_at(peer ? *peer : Peer(), task_bytes, now_s);
}

std::optional<Thief> LendingAgent::lent(std::uint32_t rank, std::uint32_t tasks, double seconds) {
  Peer& peer = peers_.at(rank);
  peer.in_flight += tasks;
  peer.in_flight_s += static_cast<float>(seconds);
  const Thief* const thief = thieves_.find(rank);
  if (!thief) {
    const auto answered = to_decline_.extract(rank);
    return answered ? std::optional(answered.mapped()) : std::nullopt;
  }
  const Thief answered = *thief;
  thieves_.remove(rank);
  return answered;
}

double LendingAgent::latency_in_node_s() const {
  return costs_.links.latency_s(peers_.locality_of(peers_.self()));
}

// This rank may send a request shortly before it is idle, so that it is not idle until the answer
// arrives. It must not do so if the end of its running tasks is uncertain by more than the latency
// of the answer: the stolen tasks might wait longer here than at the victim.
bool LendingAgent::steal_is_due(const QueueState& queue, double now_s) const {
  if (!pull_ || queue.queued >= threads_ || now_s < steal_.next_s()) return false;
  const bool is_idle = queue.queued + queue.running < threads_;
  const double running = queue.running;
  return is_idle || queue.running_deviation_s <= running * latency_in_node_s();
}

std::optional<StealRequest> LendingAgent::steal(const QueueState& queue, double now_s) {
  if (!steal_is_due(queue, now_s)) return std::nullopt;
  return steal_.next(peers_, wait_, now_s, latency_in_node_s(), random_);
}

bool LendingAgent::is_elsewhere(std::uint32_t rank) const {
  return std::isinf(peers_.locality_of(rank).distance);
}

std::uint32_t LendingAgent::returns_to(std::uint32_t owner, bool wants_collector,
                                       bool was_passed_on) const {
  if (!wants_collector || !was_passed_on || node_.empty() || !is_elsewhere(owner)) return owner;
  const std::uint32_t collector = node_[owner % node_.size()];
  const Peer* const peer = peers_.find(collector);
  const bool is_outside = peer && !peer->is_in(wait_);
  return collector == peers_.self() || is_outside ? owner : collector;
}

void LendingAgent::sent_results(std::uint32_t owner) {
  if (is_elsewhere(owner)) unconfirmed_.insert(owner);
}

void LendingAgent::got_results(std::uint32_t from) {
  if (is_elsewhere(from)) to_confirm_.insert(from);
}

std::vector<Answer> LendingAgent::take_answers() {
  std::vector<Answer> answers;
  const auto answer = [&](std::uint32_t rank) {
    const auto declined = to_decline_.extract(rank);
    answers.push_back({rank, declined ? std::optional(declined.mapped()) : std::nullopt});
  };
  for (const std::uint32_t rank : to_confirm_) answer(rank);
  while (!to_decline_.empty() && answers.size() < lending_tuning::kMaxAtOnce)
    answer(to_decline_.begin()->first);
  return answers;
}

void LendingAgent::learn_latency(std::uint32_t from, double requested_at_s, double now_s) {
  costs_.links.learn(peers_.locality_of(from), [&](LearntLink& link) {
    link.learn_round_trip(requested_at_s, wait_since_s_, now_s);
  });
}

void LendingAgent::got_tasks(std::uint32_t from, double requested_at_s, double now_s) {
  // A steal request that the victim remembers is answered only when the victim has tasks, so the
  // time until the answer says nothing about the link.
  if (requested_at_s > 0 && !steal_.is_remembered_by(peers_, from))
    learn_latency(from, requested_at_s, now_s);
  steal_.got_tasks(peers_, from, requested_at_s > 0, now_s);
}

bool LendingAgent::was_declined(std::uint32_t from, double requested_at_s, double now_s) {
  if (requested_at_s < wait_since_s_) return false;
  learn_latency(from, requested_at_s, now_s);
  steal_.was_declined(peers_, from, now_s);
  return true;
}

void LendingAgent::learn_slowness(std::uint32_t rank, double seconds, double expected_s) {
  if (seconds <= 0) return;  // the tasks were too short for the clock to measure
  Peer& peer = peers_.at(rank);
  // At first, the n-th result has a weight of at most 1/n, so the average is about the mean of all
  // results so far. With a small constant weight from the start, a program with few tasks would
  // learn too late that a rank is slow.
  // A sample is the ratio of two times, and a disturbance of either time changes it. Therefore this
  // average covers twice as many samples as an average of times does.
  const double steady = lending_tuning::kMaxWeight / 2;
  if (peer.num_results * steady < 1) ++peer.num_results;
  const double weight = std::min(steady, expected_s / lending_tuning::kTaskTimeMemory_s) /
                        (steady * peer.num_results);
  // The first result of a long task has a weight of 1 and replaces the initial slowness. It is not
  // capped at a multiple of the initial slowness, which is only a guess.
  const double sample = seconds / expected_s;
  const double moved = weight >= 1 ? sample : moved_average(peer.slowness, sample, weight);
  peer.slowness = static_cast<float>(moved);
  costs_.least_slowness.learn(peer.slowness);
}

double LendingAgent::slowness_of(std::uint32_t rank) const {
  const Peer* const peer = peers_.find(rank);
  return peer ? static_cast<double>(peer->slowness) : 1;
}

void LendingAgent::learn_byte_s(std::uint32_t rank, double byte_s) {
  costs_.links.learn(peers_.locality_of(rank),
                     [&](LearntLink& link) { link.seconds_per_byte.learn(byte_s); });
}

}  // namespace poise
