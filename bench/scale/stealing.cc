// SPDX-License-Identifier: BSD-3-Clause

#include "bench/scale/stealing.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <vector>

#include "poise/base/random.h"
#include "poise/online/lending_tuning.h"
#include "poise/simulate/tuning.h"

namespace poise::bench {

namespace {

// A group of `count` equal tasks that belong to one owner rank.
struct Tasks {
  std::uint32_t owner = 0, count = 0;
  double task_s = 0;
};

struct Event {
  enum class Kind : std::uint8_t { request, answer, results, task_end, retry };
  double at_s = 0;
  std::uint64_t order = 0;
  Kind kind = Kind::retry;
  std::uint32_t to = 0, from = 0;
  Tasks tasks;
  bool operator>(const Event& than) const {
    return at_s != than.at_s ? at_s > than.at_s : order > than.order;
  }
};

struct Rank {
  std::vector<Tasks> queue;  // the rank runs tasks from the end; thieves take from the beginning
  std::uint32_t queued = 0;
  bool is_running = false;
  Tasks running;
  double busy_until_s = 0;      // time until which the rank runs its task or handles messages
  double messages_until_s = 0;  // time until which the rank handles messages
  double pause_s = lending_tuning::kMinPause_s;
  double slowness = 1;
  // For each owner: the number of results not yet sent to it.
  std::map<std::uint32_t, std::uint32_t> results;
  std::uint64_t messages = 0;
};

class Stealing {
 public:
  Stealing(const LendingScenario& scenario, Victims victims);
  LendingOutcome run();

 private:
  using Kind = Event::Kind;
  void push(double at_s, Kind kind, std::uint32_t to, std::uint32_t from = 0, Tasks tasks = {});
  double send(double at_s, Kind kind, std::uint32_t from, std::uint32_t to, Tasks tasks = {});
  void go_on(std::uint32_t number, double now_s);
  void request(std::uint32_t thief, double now_s);
  void answer(std::uint32_t victim, std::uint32_t thief, double now_s);
  void receive(std::uint32_t thief, const Tasks& tasks, double now_s);
  void happen(const Event& event);
  std::uint32_t node_of(std::uint32_t rank) const { return rank / scenario_.ranks_per_node; }

  const LendingScenario& scenario_;
  const Victims victims_;
  Random random_;
  std::vector<Rank> ranks_;
  std::vector<double> card_free_s_;  // by node
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t order_ = 0, unfinished_ = 0;
  LendingOutcome outcome_;
};

Stealing::Stealing(const LendingScenario& scenario, Victims victims)
    : scenario_(scenario), victims_(victims), random_(scenario.seed), ranks_(scenario.num_ranks) {
  card_free_s_.resize(node_of(scenario.num_ranks - 1) + 1);
  for (std::uint32_t number = 0; number < scenario.num_ranks; ++number) {
    Rank& rank = ranks_[number];
    if (number < scenario.slowness.size()) rank.slowness = scenario.slowness[number];
    if (number < scenario.work.size())
      for (const SimulatedWork& work : scenario.work[number]) {
        if (work.tasks == 0) continue;
        rank.queue.push_back({number, work.tasks, work.task_s});
        rank.queued += work.tasks;
      }
    unfinished_ += rank.queued;
    push(0, Kind::retry, number);
  }
  outcome_.tasks = unfinished_;
}

void Stealing::push(double at_s, Kind kind, std::uint32_t to, std::uint32_t from, Tasks tasks) {
  events_.push({at_s, order_++, kind, to, from, tasks});
}

// Sends a message at the time at_s. Returns the time at which the sender has finished sending.
double Stealing::send(double at_s, Kind kind, std::uint32_t from, std::uint32_t to, Tasks tasks) {
  const std::uint32_t node = node_of(from);
  const bool is_near = node == node_of(to);
  const double bytes = simulate_tuning::kHeaderBytes + tasks.count * scenario_.bytes_per_task / 2;
  const double sent_s =
      at_s + scenario_.message_overhead_s + tasks.count * scenario_.task_overhead_s;
  double arrives_s = sent_s;
  if (!is_near)
    arrives_s = card_free_s_[node] =
        std::max(card_free_s_[node], sent_s) + bytes / scenario_.card_bytes_per_s;
  arrives_s += is_near ? scenario_.near_latency_s : scenario_.far_latency_s;
  push(arrives_s, kind, to, from, tasks);
  ++ranks_[from].messages;
  ++outcome_.messages;
  return sent_s;
}

// Starts the next task. If there is none, sends the results to their owners, and then sends the
// next steal request to a victim.
void Stealing::go_on(std::uint32_t number, double now_s) {
  Rank& rank = ranks_[number];
  if (rank.queued > 0) {
    Tasks& last = rank.queue.back();
    rank.running = {last.owner, 1, last.task_s};
    if (--last.count == 0) rank.queue.pop_back();
    --rank.queued;
    rank.is_running = true;
    rank.busy_until_s =
        std::max(now_s, rank.messages_until_s) + rank.running.task_s * rank.slowness;
    push(rank.busy_until_s, Kind::task_end, number);
    return;
  }
  for (const auto& [owner, count] : rank.results)
    now_s = send(now_s, Kind::results, number, owner, {owner, count, 0});
  rank.results.clear();
  if (scenario_.num_ranks > 1) request(number, now_s);
}

void Stealing::request(std::uint32_t thief, double now_s) {
  const std::uint32_t first = node_of(thief) * scenario_.ranks_per_node;
  const std::uint32_t near = std::min(scenario_.ranks_per_node, scenario_.num_ranks - first);
  const bool stays = victims_ == Victims::hierarchical && near > 1 && random_.below(2) == 0;
  const std::uint32_t begin = stays ? first : 0, count = stays ? near : scenario_.num_ranks;
  auto victim = begin + static_cast<std::uint32_t>(random_.below(count - 1));
  if (victim >= thief) ++victim;  // a thief does not steal from itself
  ++outcome_.requests;
  send(now_s, Kind::request, thief, victim);
}

// While a rank runs a task, its progress thread answers a steal request after a delay. If the task
// ends during the delay, the thread that ran the task polls and answers the request. A rank handles
// one message at a time.
void Stealing::answer(std::uint32_t victim, std::uint32_t thief, double now_s) {
  Rank& rank = ranks_[victim];
  if (rank.is_running) now_s = std::min(now_s + scenario_.progress_s, rank.busy_until_s);
  now_s = std::max(now_s, rank.messages_until_s) + scenario_.message_overhead_s;
  Tasks given;
  if (rank.queued > 0) {
    Tasks& first = rank.queue.front();
    given = {first.owner, std::min(first.count, (rank.queued + 1) / 2), first.task_s};
    first.count -= given.count;
    rank.queued -= given.count;
    if (first.count == 0) rank.queue.erase(rank.queue.begin());
    outcome_.lent += given.count;
  }
  rank.messages_until_s = send(now_s, Kind::answer, victim, thief, given);
}

void Stealing::receive(std::uint32_t thief, const Tasks& tasks, double now_s) {
  Rank& rank = ranks_[thief];
  now_s = std::max(now_s, rank.messages_until_s) + scenario_.message_overhead_s +
          tasks.count * scenario_.task_overhead_s;
  if (tasks.count == 0) {
    push(now_s + rank.pause_s, Kind::retry, thief);
    rank.pause_s = std::min(2 * rank.pause_s, lending_tuning::kMaxPause_s);
    return;
  }
  rank.pause_s = lending_tuning::kMinPause_s;
  rank.queue.push_back(tasks);
  rank.queued += tasks.count;
  go_on(thief, now_s);
}

void Stealing::happen(const Event& event) {
  Rank& rank = ranks_[event.to];
  switch (event.kind) {
    case Kind::request: answer(event.to, event.from, event.at_s); break;
    case Kind::answer: receive(event.to, event.tasks, event.at_s); break;
    case Kind::results:
      rank.messages_until_s = std::max(event.at_s, rank.messages_until_s) +
                              scenario_.message_overhead_s +
                              event.tasks.count * scenario_.task_overhead_s;
      unfinished_ -= event.tasks.count;
      outcome_.makespan_s = std::max(outcome_.makespan_s, rank.messages_until_s);
      break;
    case Kind::task_end:
      rank.is_running = false;
      if (rank.running.owner == event.to) {
        --unfinished_;
        outcome_.makespan_s = std::max(outcome_.makespan_s, event.at_s);
      } else {
        ++rank.results[rank.running.owner];
      }
      go_on(event.to, event.at_s);
      break;
    case Kind::retry: go_on(event.to, event.at_s); break;
  }
}

LendingOutcome Stealing::run() {
  while (unfinished_ > 0) {
    const Event event = events_.top();
    events_.pop();
    happen(event);
    ++outcome_.events;
  }
  for (const Rank& rank : ranks_)
    outcome_.max_messages_from_one = std::max(outcome_.max_messages_from_one, rank.messages);
  return outcome_;
}

}  // namespace

LendingOutcome simulate_stealing(const LendingScenario& scenario, Victims victims) {
  return Stealing(scenario, victims).run();
}

}  // namespace poise::bench
