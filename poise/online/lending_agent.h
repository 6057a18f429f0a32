// SPDX-License-Identifier: BSD-3-Clause
// Everything that one rank knows about lending and decides during a step. The tasks runtime and the
// simulator each hold one agent per rank: they measure and act, and the agent decides.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "poise/base/random.h"
#include "poise/online/loan_policy.h"
#include "poise/online/peer_table.h"
#include "poise/online/steal_policy.h"

namespace poise {

/// The data that every message between two ranks carries in addition to its actual content.
struct News {
  Load own{};                     // the sender's load
  std::vector<Load> others{};     // at most kLoadsPerMessage
  std::uint32_t received = 0;     // lent tasks that have reached the sender since its last message
  bool confirms_results = false;  // the sender has received results from the receiver
};

/// An answer to a rank. It confirms that rank's results (as any message to that rank does),
/// declines its steal request, or both.
struct Answer {
  std::uint32_t rank = 0;
  std::optional<Thief> declined{};
};

/// The caller passes the current time to each function that needs it. The class is not thread-safe.
class LendingAgent {
 public:
  struct Settings {
    bool pull = true;  // sends steal requests
    LoanSettings loans = {};
  };
  /// `node` lists the ranks of this rank's node, in an order that is the same on all of these
  /// ranks. If the list is empty, this rank sends no results to collectors (returns_to()).
  LendingAgent(std::uint32_t self, std::uint32_t num_ranks, PeerTable::LocalityOf locality_of,
               const Settings& settings, std::size_t max_peers = lending_tuning::kMaxPeers,
               std::vector<std::uint32_t> node = {});

  /// To be called when the rank begins to wait for its tasks. `wait` is the number of this wait.
  void enter(std::uint64_t wait, double now_s);
  void leave() { is_inside_ = false; }
  /// Sets the number of threads of this rank that run tasks.
  void set_threads(unsigned threads) { threads_ = threads; }
  unsigned threads() const { return threads_; }
  /// Sets the load that this rank reports, as the program's policy computes it.
  void report_load(double load) { reported_load_ = load; }

  // News.
  Load own_load(const QueueState& queue, double now_s) const;
  Load next_own_load(const QueueState& queue, double now_s);
  News news_for(std::uint32_t to, const QueueState& queue, double now_s);
  void hear(std::uint32_t from, const News& news, double now_s);
  void hear(const Load& load) { peers_.update(load); }
  /// True if this rank should now send its load to next_gossip_target(). A message is needed only
  /// between ranks that cannot read each other's load in shared memory.
  bool gossip_is_due(const QueueState& queue, double now_s);
  std::uint32_t next_gossip_target() { return peers_.next_gossip_target(); }

  // For lenders: records a steal request. Returns false if it will be declined.
  bool asked_by(const Thief& thief);
  bool lending_is_due(double now_s) const;
  /// Fills `problem` with the input for a decision about loans. A rank with an idle thread and only
  /// borrowed tasks may pass some of them on, but must then run a task before it passes on more.
  /// Until then, `problem` names no other ranks. Otherwise a task could move forever among idle
  /// ranks, each of which expects another one to be faster.
  void pose(LoanProblem& problem, const QueueState& queue, double now_s) const;
  std::vector<Loan> loans(const LoanProblem& problem, const QueueState& queue, double now_s,
                          const std::function<std::vector<QueuedTask>()>& named_queue);
  void decided(double now_s, double cost_s) { loans_.decided(now_s, cost_s); }
  bool can_borrow(std::uint32_t rank) const;
  /// Returns what this rank knows about another rank as a borrower, such as its speed and the delay
  /// of messages to it. Values that this rank does not know get defaults.
  Borrower borrower(std::uint32_t rank, const QueueState& queue) const;
  std::size_t room_at(std::uint32_t rank, double task_bytes, double now_s) const;
  /// Records a loan of tasks that should take `seconds` on this rank. Returns the steal request
  /// that the loan answers, if there is one.
  std::optional<Thief> lent(std::uint32_t rank, std::uint32_t tasks, double seconds);
  /// Declines the stored steal requests of this wait, because there are no tasks for them.
  void decline_all();
  bool is_thief(std::uint32_t rank) const { return thieves_.find(rank) != nullptr; }

  // For borrowers: true if steal() may return a request.
  bool steal_is_due(const QueueState& queue, double now_s) const;
  /// True if this rank will send no further steal request until a message arrives.
  bool is_silent(double now_s) const { return !pull_ || steal_.is_silent(peers_, wait_, now_s); }
  /// Returns the earliest time at which this rank may send its next steal request.
  double next_steal_s() const { return steal_.next_s(); }
  std::optional<StealRequest> steal(const QueueState& queue, double now_s);
  /// To be called when a message with tasks has arrived. `requested_at_s` is the time of the
  /// request that the message answers, or 0 if there is none.
  void got_tasks(std::uint32_t from, double requested_at_s, double now_s);
  /// To be called when all data of `tasks` tasks have arrived.
  void received(std::uint32_t from, std::uint32_t tasks) {
    Peer& peer = peers_.at(from);
    peer.unacknowledged += tasks;
    peer.has_lent = true;
  }
  /// To be called when a steal request was declined. Returns false if this rank sent the request in
  /// an earlier wait.
  bool was_declined(std::uint32_t from, double requested_at_s, double now_s);
  std::vector<std::uint32_t> unresponsive_victims(double now_s) {
    return steal_.unresponsive(peers_, wait_, now_s);
  }

  /// For a rank that holds `count` > 0 copies of other ranks' tasks: draws at random the copy to
  /// run next. Before this rank runs the copy, it asks the task's owner. The owner would often
  /// refuse the oldest copy, because the owner is about to start that task itself.
  std::size_t replica_to_claim(std::size_t count) { return random_.below(count); }

  // Messages with results: a rank of another node gets the next message with results only when it
  // has confirmed the last one. So the results for a busy owner arrive in few large messages.
  // Otherwise an owner that has lent tasks to very many ranks would spend its time on handling
  // messages. An owner with nothing else to do confirms at once, so this rule delays a result by at
  // most one round trip. The idea is that of Nagle (RFC 896). The ranks of the same node are few,
  // so they need no confirmations.
  //
  // If a lender is the bottleneck (is_bottleneck()), it has no time to receive even one message
  // from each borrower. Then results of tasks that were passed on take another route: in each node,
  // one rank, the collector, receives the results for that lender and sends them on together with
  // its own results.
  /// True if this rank, as a lender, wants its results collected. The caller stores this in each
  /// task of this rank that it lends.
  bool wants_collector() const { return wants_collector_; }
  /// Returns the rank to which the result of a borrowed task is sent: its owner or the collector of
  /// this node. Results of tasks that the owner itself lent to this rank go to the owner, which
  /// learns from them that the tasks arrived. Results also go to the owner if the collector is
  /// known not to have entered this wait: the collector would keep the results until it enters the
  /// wait.
  std::uint32_t returns_to(std::uint32_t owner, bool wants_collector, bool was_passed_on) const;
  bool may_send_results(std::uint32_t owner) const { return !unconfirmed_.contains(owner); }
  void sent_results(std::uint32_t owner);
  /// To be called when results have arrived from a rank. The next message to that rank confirms
  /// them.
  void got_results(std::uint32_t from);

  /// Removes and returns the answers that the caller has to send now. The caller should first
  /// receive all messages that have arrived, because a confirmation lets the other rank send its
  /// next results, which would only queue behind these messages. The answers confirm all results
  /// but decline at most kMaxAtOnce steal requests. So a lender with very many thieves receives
  /// further results before it declines the remaining requests.
  std::vector<Answer> take_answers();
  bool has_answers() const { return !to_confirm_.empty() || !to_decline_.empty(); }

  // Learning.
  void learn_slowness(std::uint32_t rank, double seconds, double expected_s);
  double slowness_of(std::uint32_t rank) const;
  void learn_byte_s(std::uint32_t rank, double byte_s);
  LendingCosts& costs() { return costs_; }
  const LendingCosts& costs() const { return costs_; }

  const PeerTable& peers() const { return peers_; }
  const LoanPolicy& policy() const { return loans_; }
  Random& random() { return random_; }
  bool pulls() const { return pull_; }
  std::uint64_t wait() const { return wait_; }
  bool is_inside() const { return is_inside_; }

 private:
  bool passes_on(const QueueState& queue) const {
    return queue.all_borrowed && queue.running < threads_;
  }
  bool is_elsewhere(std::uint32_t rank) const;
  double latency_in_node_s() const;
  void learn_latency(std::uint32_t from, double requested_at_s, double now_s);

  const bool pull_;
  PeerTable peers_;
  const std::vector<std::uint32_t> node_;
  Thieves thieves_;
  LoanPolicy loans_;
  StealPolicy steal_;
  LendingCosts costs_;
  Random random_;
  std::optional<double> reported_load_;
  std::optional<std::uint64_t> passed_on_after_;  // QueueState::ran when tasks were last passed on
  std::map<std::uint32_t, Thief> to_decline_;     // by rank
  std::set<std::uint32_t> unconfirmed_;  // owners that have not confirmed this rank's results
  std::set<std::uint32_t> to_confirm_;   // borrowers whose results this rank has not confirmed
  std::uint64_t wait_ = 0;
  double wait_since_s_ = 0, next_gossip_s_ = 0;
  std::uint32_t version_ = 0;
  unsigned threads_ = 1;
  bool is_inside_ = false, wants_collector_ = false;
};

/// Carries out loans in rounds. In each round, it calls `lend` for every unfinished loan. `lend`
/// sends one message, and returns false if the loan is then finished. The second argument of `lend`
/// says whether the borrower has sent a request. Every borrower gets its first message before any
/// borrower gets its second. So all borrowers soon run tasks and lend them on, although a large
/// loan takes a long time to pack.
template <typename Lend>
void lend_in_turn(std::vector<Loan>& loans, const LendingAgent& agent, const Lend& lend) {
  std::vector<std::pair<Loan*, bool>> unfinished;
  for (Loan& loan : loans) unfinished.emplace_back(&loan, agent.is_thief(loan.rank));
  while (!unfinished.empty())
    std::erase_if(unfinished, [&](const auto& next) { return !lend(*next.first, next.second); });
}

}  // namespace poise
