// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/lending_simulation.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>

#include "poise/online/held_results.h"
#include "poise/online/lending_tuning.h"
#include "poise/online/polling.h"
#include "poise/online/task_times.h"
#include "poise/online/termination.h"
#include "poise/simulate/lending_queue.h"
#include "poise/simulate/lending_replicas.h"
#include "poise/simulate/lending_transport.h"
#include "poise/simulate/shared_core.h"
#include "poise/simulate/tuning.h"

namespace poise {

namespace {

struct Mail {
  enum class Kind : std::uint8_t {
    tasks,
    results,
    copies,
    request,
    decline,
    claim,
    grant,  // answer to a claim (request to run a copied task): the task, or nothing if refused
    load,
    termination
  };
  Kind kind = Kind::load;
  std::uint32_t from = 0, to = 0;
  News news;
  double requested_at_s = 0;
  bool is_lasting = false;
  std::vector<TaskGroup> tasks;  // only in messages of kind tasks, results and grant
  std::vector<SimulatedCopy> copies;
  std::uint64_t ticket = 0;  // only in messages of kind claim
  double receiver_s = 0;     // CPU time to receive the message
  double byte_s = 0;         // transfer time per byte of the message; 0: not known
  TerminationMessage round;  // of kind termination
};

struct Event {
  enum class Kind : std::uint8_t { arrival, task_end, wake, enter };
  double at_s = 0;
  std::uint64_t order = 0;  // ties: first come
  Kind kind = Kind::wake;
  std::uint32_t rank = 0, mail = 0;
  bool operator>(const Event& than) const {
    return at_s != than.at_s ? at_s > than.at_s : order > than.order;
  }
};

struct Rank {
  Rank(LendingAgent&& its_agent, TerminationTree tree, bool gives_costs)
      : agent(std::move(its_agent)), detector(std::move(tree)), queue(gives_costs) {}
  LendingAgent agent;
  TerminationDetector detector;
  TaskTimes times{1};
  LendingQueue queue;
  double last_cost = 0;   // cost of the task that ran last
  std::uint64_t ran = 0;  // tasks that this rank has run
  TaskGroup running;      // the task that runs; its count is 0 while none runs
  double began_s = 0, busy_until_s = 0;
  double handling_until_s = 0;  // end of the last step(); the next one must not begin earlier
  HeldResults<TaskGroup> results;
  SimulatedCopies copies;  // the copies of other ranks' tasks at this rank
  std::deque<std::uint32_t> inbox;
  std::uint64_t created = 0, finished = 0, lent = 0, messages = 0;
  std::uint64_t tasks_here = 0;  // borrowed tasks whose results have not been sent
  double slowness = 1, wake_at_s = -1;
  std::uint32_t waits = 0;
  SimulatedRank did;

  SharedCore core;

  bool is_running() const { return running.count > 0; }
};

class Simulation {
 public:
  explicit Simulation(const LendingScenario& scenario);
  LendingOutcome run();

 private:
  using Kind = Event::Kind;
  void push(double at_s, Kind kind, std::uint32_t rank, std::uint32_t mail = 0);
  void happen(const Event& event);
  void enter(Rank& rank);
  void end_task(Rank& rank);
  void step(Rank& rank);
  void receive(Rank& rank);
  void plan_progress(Rank& rank);
  void handle(Rank& rank, Mail& mail);
  void send_results(Rank& rank);
  void send_results(Rank& rank, std::uint32_t owner, std::vector<TaskGroup>&& tasks);
  void send_results_of(Rank& rank, std::uint32_t owner);
  void lend(Rank& rank);
  void answer(Rank& rank);
  bool lend_part(Rank& rank, Loan& loan, bool asked);
  static std::vector<TaskGroup> take(Rank& rank, std::uint64_t tasks, bool borrowed_too);
  void steal(Rank& rank);
  void replicate(Rank& rank);
  void claim(Rank& rank);
  void queue_copy(Rank& rank, const TaskGroup& task);
  void detect(Rank& rank);
  void start_task(Rank& rank);
  void submit(Rank& rank, const TaskGroup& tasks);
  void receive_tasks(Rank& rank, const Mail& mail);
  void receive_results(Rank& rank, Mail& mail);
  void leave(Rank& rank);
  void begin_wait(double at_s);
  QueueState state_of(const Rank& rank) const;
  Mail mail_to(Rank& rank, Mail::Kind kind, std::uint32_t to);
  void send(Rank& rank, Mail&& mail);
  static Mail taken_confirmation(Mail& mail);
  void deliver(Mail&& mail, double at_s);
  void send_rounds(Rank& rank, const std::vector<TerminationMessage>& rounds);
  void record(Rank& rank, double start_s, double end_s, bool is_borrowed = false);
  std::uint32_t number_of(const Rank& rank) const { return rank.agent.peers().self(); }
  void recount();
  void complain(std::string text) {
    if (outcome_.trouble.empty()) outcome_.trouble = std::move(text);
  }

  const LendingScenario& scenario_;
  Random random_;
  LendingTransport transport_;
  std::vector<Rank> ranks_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Mail> mails_;
  std::vector<std::uint32_t> free_mails_;
  std::uint64_t order_ = 0, created_ = 0, finished_ = 0, last_ticket_ = 0;
  // Start of the present call of step(), and the CPU time that it has taken so far.
  double now_s_ = 0, cpu_s_ = 0;
  // Number of ranks that have left the present wait, if LendingScenario::meets is set. Otherwise,
  // number of ranks that have left the last wait.
  std::uint32_t ranks_done_ = 0;
  double began_s_ = 0;  // end of the barrier before this wait
  double left_s_ = 0;   // time at which the last of the ranks_done_ ranks left its wait
  double age_s_ = 0;
  std::uint64_t ages_ = 0;
  LendingOutcome outcome_;
};

Simulation::Simulation(const LendingScenario& scenario)
    : scenario_(scenario), random_(scenario.seed), transport_(scenario, random_) {
  const std::uint32_t per_node = scenario.ranks_per_node;
  ranks_.reserve(scenario.num_ranks);
  for (std::uint32_t rank = 0; rank < scenario.num_ranks; ++rank) {
    const auto locality = [this, rank](std::uint32_t other) {
      return transport_.locality(rank, other);
    };
    const std::uint32_t first = rank / per_node * per_node;
    std::vector<std::uint32_t> node(std::min(per_node, scenario.num_ranks - first));
    std::iota(node.begin(), node.end(), first);
    ranks_.emplace_back(LendingAgent(rank, scenario.num_ranks, locality, scenario.settings,
                                     scenario.max_peers, std::move(node)),
                        termination_tree(rank, scenario.num_ranks, per_node), scenario.gives_costs);
    if (rank < scenario.slowness.size()) ranks_.back().slowness = scenario.slowness[rank];
    if (rank < scenario.slice_s.size() && scenario.slice_s[rank] > 0)
      ranks_.back().core = {scenario.slice_s[rank], random_.uniform(0, 2 * scenario.slice_s[rank])};
  }
  begin_wait(0);
}

void Simulation::begin_wait(double at_s) {
  began_s_ = left_s_ = at_s;
  ranks_done_ = 0;
  outcome_.makespan_s = 0;
  outcome_.lent = 0;
  outcome_.lent_bytes = 0;
  outcome_.ran_on_other_nodes = 0;
  outcome_.copies = outcome_.copies_run = 0;
  for (std::uint32_t rank = 0; rank < scenario_.num_ranks; ++rank) {
    ranks_[rank].did = {};
    push(at_s + (rank < scenario_.enter_s.size() ? scenario_.enter_s[rank] : 0), Kind::enter, rank);
  }
}

void Simulation::leave(Rank& rank) {
  const bool is_last = ++rank.waits == scenario_.waits;
  const double left_s = now_s_ + cpu_s_;
  if (finished_ != created_ && is_last)
    complain(fmt::format("rank {} left the last wait while {} tasks were unfinished",
                         number_of(rank), created_ - finished_));
  rank.agent.leave();
  rank.copies.drop();
  rank.did.left_s = left_s - began_s_;
  if (is_last || scenario_.meets) {
    ++ranks_done_;
    left_s_ = std::max(left_s_, left_s);
  } else {
    push(left_s, Kind::enter, number_of(rank));
  }
  if (!is_last && ranks_done_ == scenario_.num_ranks) begin_wait(left_s_);
}

void Simulation::push(double at_s, Kind kind, std::uint32_t rank, std::uint32_t mail) {
  events_.push({at_s, order_++, kind, rank, mail});
}

void Simulation::submit(Rank& rank, const TaskGroup& tasks) {
  if (tasks.count == 0) return;
  rank.queue.push_own(tasks);
  rank.created += tasks.count;
  created_ += tasks.count;
}

void Simulation::enter(Rank& rank) {
  std::vector<TerminationMessage> out;
  rank.detector.enter(out);
  rank.agent.enter(rank.detector.wait(), now_s_);
  const std::uint32_t number = number_of(rank);
  if ((rank.waits == 0 || scenario_.meets) && now_s_ > began_s_) {
    rank.did.busy_s = now_s_ - began_s_;
    record(rank, began_s_, now_s_);
  }
  if (number < scenario_.work.size())
    for (const SimulatedWork& work : scenario_.work[number])
      submit(
          rank,
          {.owner = number, .count = work.tasks, .children = work.children, .task_s = work.task_s});
  replicate(rank);
  send_rounds(rank, out);
  step(rank);
}

void Simulation::end_task(Rank& rank) {
  TaskGroup task = std::exchange(rank.running, {});
  const double seconds = now_s_ - rank.began_s;
  rank.did.busy_s += seconds;
  record(rank, rank.began_s, now_s_, task.owner != number_of(rank));
  rank.last_cost = rank.queue.cost_of(task);
  rank.times.learn(0, seconds, rank.last_cost);
  ++rank.ran;
  submit(rank, {.owner = number_of(rank), .count = task.children, .task_s = task.task_s});
  if (task.owner == number_of(rank)) {
    ++rank.finished;
    ++finished_;
    outcome_.makespan_s = std::max(outcome_.makespan_s, now_s_ - began_s_);
  } else {
    task.ran_s = seconds;
    task.ran_on = number_of(rank);
    const std::uint32_t to =
        rank.agent.returns_to(task.owner, task.wants_collector, task.was_passed_on);
    rank.results.add(to, std::move(task), now_s_);
  }
}

// Records that the rank worked from start_s to end_s. Also records that it waited between its
// previous work and start_s, unless this gap is very short.
void Simulation::record(Rank& rank, double start_s, double end_s, bool is_borrowed) {
  if (!scenario_.has_spans) return;
  std::vector<Span>& spans = rank.did.spans;
  start_s -= began_s_;
  end_s -= began_s_;
  const double last_s = spans.empty() ? 0 : spans.back().end_s;
  const bool has_waited = start_s - last_s >= simulate_tuning::kMinIdle_s;
  if (has_waited) spans.push_back({last_s, start_s, Activity::wait});
  if (has_waited || spans.empty() || spans.back().is_borrowed != is_borrowed)
    spans.push_back({has_waited ? start_s : last_s, end_s, Activity::work, is_borrowed});
  else
    spans.back().end_s = end_s;
}

QueueState Simulation::state_of(const Rank& rank) const {
  QueueState state;
  const LendingQueue& queue = rank.queue;
  state.queued = state.lendable = queue.size();
  state.all_borrowed = queue.num_own() == 0 && queue.num_borrowed() > 0;
  state.ran_s = rank.last_cost * rank.times.per_unit(0);
  state.ran = rank.ran;
  const double per_unit = rank.times.per_unit(0);
  state.queued_s = queue.cost() * per_unit;
  state.queued_deviation_s = state.queued_s * rank.times.deviation(0);
  state.all_times_known = per_unit > 0 || state.queued == 0;
  state.bytes_out = scenario_.bytes_per_task / 2 * state.queued;
  state.bytes_both = 2 * state.bytes_out;
  if (!rank.is_running()) return state;
  state.running = 1;
  const double expected_s = queue.cost_of(rank.running) * per_unit;
  const double elapsed_s = now_s_ - rank.began_s;
  state.running_s = remaining_s(elapsed_s, expected_s);
  state.running_deviation_s =
      remaining_deviation_s(elapsed_s, expected_s, expected_s * rank.times.deviation(0));
  return state;
}

Mail Simulation::mail_to(Rank& rank, Mail::Kind kind, std::uint32_t to) {
  Mail mail;
  mail.kind = kind;
  mail.from = number_of(rank);
  mail.to = to;
  mail.news = rank.agent.news_for(to, state_of(rank), now_s_ + cpu_s_);
  return mail;
}

void Simulation::send(Rank& rank, Mail&& mail) {
  ++outcome_.messages;
  ++rank.messages;
  const auto with_data =
      mail.copies.size() + (mail.kind == Mail::Kind::grant ? 0 : num_tasks_of(mail.tasks));
  const double task_bytes = with_data * scenario_.bytes_per_task / 2;
  outcome_.lent_bytes += task_bytes;
  const double bytes = simulate_tuning::kHeaderBytes + task_bytes;
  const auto passage = transport_.carry(mail.from, mail.to, bytes, now_s_, cpu_s_);
  mail.receiver_s = passage.receiver_s;
  const bool has_tasks = mail.kind != Mail::Kind::grant && !mail.tasks.empty();
  if (has_tasks && scenario_.bytes_per_task / 2 >= simulate_tuning::kLargeBytes)
    mail.byte_s = passage.travel_s / bytes;
  double at_s = passage.arrival_s;
  const bool is_news = with_data == 0 && mail.kind != Mail::Kind::termination;
  if (is_news && scenario_.news_delay_s > 0) {
    if (mail.news.confirms_results) deliver(taken_confirmation(mail), at_s);
    at_s += scenario_.news_delay_s;
  }
  deliver(std::move(mail), at_s);
}

// Takes the confirmation of results out of a message that will be delayed, and returns it in a new
// message that will not be delayed. The new message must not report a load, so its load is marked
// as that of the receiver: ranks ignore reports of their own load.
Mail Simulation::taken_confirmation(Mail& mail) {
  Mail taken;
  taken.from = mail.from;
  taken.to = mail.to;
  taken.news.own.rank = mail.to;
  taken.news.confirms_results = std::exchange(mail.news.confirms_results, false);
  return taken;
}

void Simulation::deliver(Mail&& mail, double at_s) {
  const std::uint32_t to = mail.to;
  if (free_mails_.empty()) {
    free_mails_.push_back(mails_.size());
    mails_.emplace_back();
  }
  const std::uint32_t slot = free_mails_.back();
  free_mails_.pop_back();
  mails_[slot] = std::move(mail);
  push(at_s, Kind::arrival, to, slot);
}

void Simulation::send_rounds(Rank& rank, const std::vector<TerminationMessage>& rounds) {
  for (const TerminationMessage& round : rounds) {
    Mail mail = mail_to(rank, Mail::Kind::termination, round.to);
    mail.round = round;
    send(rank, std::move(mail));
  }
}

void Simulation::receive_tasks(Rank& rank, const Mail& mail) {
  rank.agent.got_tasks(mail.from, mail.requested_at_s, now_s_);
  for (TaskGroup tasks : mail.tasks) {
    const bool is_own = tasks.owner == number_of(rank);
    tasks.was_passed_on = tasks.owner != mail.from;
    is_own ? rank.queue.push_own(tasks) : rank.queue.push_borrowed(tasks);
    if (!is_own) rank.tasks_here += tasks.count;
    rank.agent.received(mail.from, tasks.count);
    cpu_s_ += tasks.count * scenario_.task_overhead_s;
  }
}

void Simulation::receive_results(Rank& rank, Mail& mail) {
  rank.agent.got_results(mail.from);
  cpu_s_ += num_tasks_of(mail.tasks) * scenario_.task_overhead_s;
  const auto to_others = std::ranges::partition(
      mail.tasks, [&](const TaskGroup& tasks) { return tasks.owner == number_of(rank); });
  for (TaskGroup& tasks : to_others) {  // results that this rank collects for other owners
    rank.tasks_here += tasks.count;
    rank.results.add(tasks.owner, std::move(tasks), now_s_);
  }
  mail.tasks.erase(to_others.begin(), to_others.end());
  if (mail.tasks.empty()) return;
  const auto number = num_tasks_of(mail.tasks);
  rank.agent.costs().unpacking.learn(number, 0, number * scenario_.task_overhead_s);
  for (const TaskGroup& tasks : mail.tasks) {
    const double cost = rank.queue.cost_of(tasks);
    const double expected_s = rank.times.per_unit(0) * cost;
    if (expected_s > 0)
      rank.agent.learn_slowness(tasks.ran_on, tasks.ran_s, expected_s);
    else
      rank.times.learn(0, tasks.ran_s / rank.agent.slowness_of(tasks.ran_on), cost);
    if (transport_.node_of(tasks.ran_on) != transport_.node_of(mail.to))
      outcome_.ran_on_other_nodes += tasks.count;
  }
  rank.finished += number;
  finished_ += number;
  // The last owner to receive results need not be the last to finish unpacking, because unpacking
  // takes time. Hence the maximum.
  outcome_.makespan_s = std::max(outcome_.makespan_s, now_s_ + cpu_s_ - began_s_);
}

void Simulation::handle(Rank& rank, Mail& mail) {
  cpu_s_ += mail.receiver_s;
  rank.agent.hear(mail.from, mail.news, now_s_);
  if (mail.byte_s > 0) rank.agent.learn_byte_s(mail.from, mail.byte_s);
  switch (mail.kind) {
    case Mail::Kind::tasks: receive_tasks(rank, mail); break;
    case Mail::Kind::results: receive_results(rank, mail); break;
    case Mail::Kind::request: {
      const Thief thief{mail.from, mail.news.own.wait, mail.requested_at_s, mail.is_lasting};
      rank.agent.asked_by(thief);
      break;
    }
    case Mail::Kind::decline:
      rank.agent.was_declined(mail.from, mail.requested_at_s, now_s_);
      break;
    case Mail::Kind::copies:
      cpu_s_ += static_cast<double>(mail.copies.size()) * scenario_.task_overhead_s;
      rank.copies.keep(mail.copies);
      break;
    case Mail::Kind::claim: {
      Mail answer = mail_to(rank, Mail::Kind::grant, mail.from);
      if (const auto task = rank.queue.take_ticket(mail.ticket)) answer.tasks = {*task};
      send(rank, std::move(answer));
      break;
    }
    case Mail::Kind::grant:
      rank.copies.answered();
      for (const TaskGroup& task : mail.tasks) queue_copy(rank, task);
      break;
    case Mail::Kind::load: break;
    case Mail::Kind::termination: {
      std::vector<TerminationMessage> out;
      rank.detector.handle(mail.from, mail.round, out);
      send_rounds(rank, out);
      break;
    }
  }
}

void Simulation::send_results(Rank& rank) {
  for (auto& [owner, tasks] : rank.results.take_due(rank.queue.size() == 0, now_s_, rank.agent))
    send_results(rank, owner, std::move(tasks));
}

void Simulation::send_results(Rank& rank, std::uint32_t owner, std::vector<TaskGroup>&& tasks) {
  Mail mail = mail_to(rank, Mail::Kind::results, owner);
  cpu_s_ += num_tasks_of(tasks) * scenario_.task_overhead_s;
  rank.tasks_here -= num_tasks_of(tasks);
  mail.tasks = std::move(tasks);
  send(rank, std::move(mail));
}

// Sends `owner` the results of its tasks. This happens before the rank sends tasks to `owner`: from
// the results the owner learns how slow this rank is, and only then decides whether to lend to this
// rank again.
void Simulation::send_results_of(Rank& rank, std::uint32_t owner) {
  std::vector<TaskGroup> tasks = rank.results.take_of(owner, rank.agent);
  if (!tasks.empty()) send_results(rank, owner, std::move(tasks));
}

// Takes tasks from the rank's queue to send them to another rank.
std::vector<TaskGroup> Simulation::take(Rank& rank, std::uint64_t tasks, bool borrowed_too) {
  std::vector<TaskGroup> taken = rank.queue.take_last(tasks, borrowed_too);
  for (TaskGroup& group : taken)
    if (group.owner == rank.agent.peers().self())
      group.wants_collector = rank.agent.wants_collector();
    else
      rank.tasks_here -= group.count;
  return taken;
}

// Sends one message with tasks of the loan. Returns whether another message should follow.
bool Simulation::lend_part(Rank& rank, Loan& loan, bool asked) {
  LendingAgent& agent = rank.agent;
  const double task_bytes = scenario_.bytes_per_task / 2;
  const auto most_in_one = static_cast<std::uint32_t>(std::clamp<double>(
      scenario_.message_bytes / task_bytes, 1, lending_tuning::kMaxTasksPerMessage));
  const std::uint64_t most = std::min<std::uint64_t>(std::min(loan.tasks, most_in_one),
                                                     agent.room_at(loan.rank, task_bytes, now_s_));
  std::vector<TaskGroup> taken = take(rank, most, asked);
  if (taken.empty()) return false;
  send_results_of(rank, loan.rank);
  const std::uint32_t tasks = num_tasks_of(taken);
  double cost = 0;
  for (const TaskGroup& group : taken) cost += rank.queue.cost_of(group);
  const auto thief = agent.lent(loan.rank, tasks, cost * rank.times.per_unit(0));
  const double seconds = tasks * scenario_.task_overhead_s;
  agent.costs().packing.learn(tasks, 0, seconds);
  cpu_s_ += seconds;
  Mail mail = mail_to(rank, Mail::Kind::tasks, loan.rank);
  mail.requested_at_s = thief ? thief->requested_at_s : 0;
  mail.tasks = std::move(taken);
  send(rank, std::move(mail));
  outcome_.lent += tasks;
  rank.lent += tasks;
  loan.tasks -= tasks;
  return loan.tasks > 0;
}

void Simulation::lend(Rank& rank) {
  LendingAgent& agent = rank.agent;
  const bool is_due = agent.lending_is_due(now_s_);
  const QueueState state = state_of(rank);
  if (is_due && state.lendable > 0) {
    LoanProblem problem;
    agent.pose(problem, state, now_s_);
    auto loans = agent.loans(problem, state, now_s_, [] { return std::vector<QueuedTask>{}; });
    if (!problem.others.empty()) cpu_s_ += scenario_.decision_s;
    agent.decided(now_s_, problem.others.empty() ? 0 : scenario_.decision_s);
    lend_in_turn(loans, agent,
                 [&](Loan& loan, bool asked) { return lend_part(rank, loan, asked); });
  }
  if (!is_due && state.lendable > 0) return;
  agent.decline_all();
}

// Confirms results and declines steal requests.
void Simulation::answer(Rank& rank) {
  for (const auto& [to, declined] : rank.agent.take_answers()) {
    Mail mail = mail_to(rank, declined ? Mail::Kind::decline : Mail::Kind::load, to);
    if (declined) mail.requested_at_s = declined->requested_at_s;
    send(rank, std::move(mail));
  }
}

void Simulation::steal(Rank& rank) {
  const auto request = rank.agent.steal(state_of(rank), now_s_);
  if (!request) return;
  ++outcome_.requests;
  if (rank.agent.peers().has_tasks(request->victim, rank.agent.wait())) {
    age_s_ += now_s_ - rank.agent.peers().find(request->victim)->reported_at_s;
    ++ages_;
  }
  Mail mail = mail_to(rank, Mail::Kind::request, request->victim);
  mail.requested_at_s = now_s_ + cpu_s_;
  mail.is_lasting = request->is_lasting;
  send(rank, std::move(mail));
}

// Gives a ticket to each of the last tasks of the queue, and sends a copy of the task to another
// rank.
void Simulation::replicate(Rank& rank) {
  if (scenario_.num_ranks < 2) return;
  const auto number = number_of(rank);
  const auto count = static_cast<std::uint64_t>(scenario_.replicated_share *
                                                static_cast<double>(rank.queue.num_own()));
  std::map<std::uint32_t, std::vector<SimulatedCopy>> by_rank;
  for (TaskGroup task : take(rank, count, false))
    for (std::uint32_t left = std::exchange(task.count, 1); left > 0; --left) {
      task.ticket = ++last_ticket_;
      rank.queue.push_own(task);
      by_rank[rank_of_copy(number, task.ticket, scenario_.num_ranks)].push_back(
          {task.ticket, number});
    }
  for (auto& [to, copies] : by_rank) {
    outcome_.copies += copies.size();
    cpu_s_ += static_cast<double>(copies.size()) * scenario_.task_overhead_s;
    Mail mail = mail_to(rank, Mail::Kind::copies, to);
    mail.copies = std::move(copies);
    send(rank, std::move(mail));
  }
}

// If the rank has nothing to do, it asks the owner of a copied task whether it may run this task.
void Simulation::claim(Rank& rank) {
  while (rank.queue.size() == 0 && !rank.is_running()) {
    const auto copy = rank.copies.claim(rank.agent);
    if (!copy) return;
    if (!scenario_.shares_tokens) {
      Mail mail = mail_to(rank, Mail::Kind::claim, copy->owner);
      mail.ticket = copy->ticket;
      send(rank, std::move(mail));
      return;
    }
    rank.copies.answered();
    if (const auto task = ranks_[copy->owner].queue.take_ticket(copy->ticket))
      queue_copy(rank, *task);
  }
}

void Simulation::queue_copy(Rank& rank, const TaskGroup& task) {
  ++outcome_.copies_run;
  rank.queue.push_borrowed(task);
  ++rank.tasks_here;
}

void Simulation::detect(Rank& rank) {
  if (rank.detector.done() || rank.tasks_here > 0 || rank.created != rank.finished) return;
  std::vector<TerminationMessage> out;
  rank.detector.idle(rank.created, rank.finished, out);
  send_rounds(rank, out);
}

void Simulation::start_task(Rank& rank) {
  const std::optional<TaskGroup> next = rank.queue.take_next();
  if (!next) return;
  rank.running = *next;
  rank.began_s = now_s_ + cpu_s_;
  rank.busy_until_s = rank.core.end_s(rank.began_s, rank.running.task_s * rank.slowness);
  push(rank.busy_until_s, Kind::task_end, number_of(rank));
}

// Handles the oldest messages, as many as the tasks runtime receives in one poll.
void Simulation::receive(Rank& rank) {
  for (std::size_t i = 0; i < lending_tuning::kMaxAtOnce && !rank.inbox.empty(); ++i) {
    const std::uint32_t slot = rank.inbox.front();
    rank.inbox.pop_front();
    Mail mail = std::move(mails_[slot]);
    free_mails_.push_back(slot);
    handle(rank, mail);
  }
}

// While a rank runs a task and has more to lend, its progress thread wakes up from time to time.
void Simulation::plan_progress(Rank& rank) {
  if (std::isinf(scenario_.progress_s) || rank.queue.size() == 0 || rank.wake_at_s > now_s_) return;
  const bool is_woken = scenario_.num_ranks <= scenario_.ranks_per_node;
  const QueueState state = state_of(rank);
  const double sleep_s =
      progress_sleep_s(scenario_.progress_s, is_woken, state.queued_s, state.mean_s());
  const double at_s = now_s_ + sleep_s;
  if (at_s < rank.busy_until_s) push(rank.wake_at_s = at_s, Kind::wake, number_of(rank));
}

// Does what a rank does between two tasks, in the order of the offload engine of the tasks runtime.
void Simulation::step(Rank& rank) {
  receive(rank);
  send_results(rank);
  if (rank.agent.is_inside()) {
    const bool messages_wait = !rank.inbox.empty();
    lend(rank);
    if (!messages_wait) steal(rank);
    claim(rank);
    if (scenario_.num_ranks > 1 && rank.agent.gossip_is_due(state_of(rank), now_s_)) {
      const std::uint32_t to = rank.agent.next_gossip_target();
      send(rank, mail_to(rank, Mail::Kind::load, to));
    }
    if (!messages_wait) answer(rank);
    detect(rank);
    if (rank.detector.done()) leave(rank);
  }
  if (!rank.is_running()) start_task(rank);
  if (!rank.inbox.empty()) {
    if (!rank.is_running()) rank.busy_until_s = now_s_ + cpu_s_;
    push(rank.wake_at_s = now_s_ + cpu_s_, Kind::wake, number_of(rank));
    return;
  }
  if (rank.is_running()) return plan_progress(rank);
  if (!rank.agent.is_inside()) return;
  rank.busy_until_s = now_s_ + cpu_s_;
  if (rank.agent.has_answers())
    return push(rank.wake_at_s = rank.busy_until_s, Kind::wake, number_of(rank));
  if (rank.agent.is_silent(now_s_) || scenario_.num_ranks == 1) return;
  const double at_s =
      std::max(rank.busy_until_s + simulate_tuning::kIdlePoll_s, rank.agent.next_steal_s());
  if (rank.wake_at_s > now_s_ && rank.wake_at_s <= at_s) return;
  push(rank.wake_at_s = at_s, Kind::wake, number_of(rank));
}

void Simulation::happen(const Event& event) {
  Rank& rank = ranks_[event.rank];
  if (const double at_s = rank.core.held_from_s(event.at_s); at_s > event.at_s) {
    // The event is postponed, but keeps its sequence number. Of several events at the same time,
    // the one with the lowest number comes first, so messages stay in order.
    events_.push({at_s, event.order, event.kind, event.rank, event.mail});
    return;
  }
  now_s_ = event.at_s;
  cpu_s_ = 0;
  switch (event.kind) {
    case Kind::arrival:
      rank.inbox.push_back(event.mail);
      // A rank that runs a task handles the message later: when its progress thread wakes up or, at
      // the latest, when the task ends.
      if (rank.is_running()) {
        const double at_s = now_s_ + scenario_.progress_s;
        const bool is_awake_then = rank.wake_at_s > now_s_ && rank.wake_at_s <= at_s;
        const bool is_quiet =
            mails_[event.mail].kind == Mail::Kind::load;  // a load report wakes no progress thread
        if (!is_quiet && !is_awake_then && at_s < rank.busy_until_s)
          push(rank.wake_at_s = at_s, Kind::wake, event.rank);
        return;
      }
      // The message waits if the rank still handles earlier messages. It also waits if the rank's
      // last task has just ended and the progress thread still handles earlier messages.
      if (const double at_s = std::max(rank.busy_until_s, rank.handling_until_s); now_s_ < at_s) {
        if (rank.wake_at_s != at_s) push(rank.wake_at_s = at_s, Kind::wake, event.rank);
        return;
      }
      break;
    case Kind::task_end:
      end_task(rank);
      if (now_s_ >= rank.handling_until_s) break;
      // The progress thread is still handling messages. The rank leaves them to that thread and
      // starts its next task immediately.
      start_task(rank);
      push(rank.wake_at_s = rank.handling_until_s, Kind::wake, event.rank);
      return;
    case Kind::enter:
      enter(rank);
      rank.did.busy_s += cpu_s_;
      return;
    case Kind::wake:
      if (rank.is_running() ? std::isinf(scenario_.progress_s) : now_s_ < rank.busy_until_s) return;
      if (now_s_ < rank.handling_until_s) {
        if (rank.wake_at_s < rank.handling_until_s)
          push(rank.wake_at_s = rank.handling_until_s, Kind::wake, event.rank);
        return;
      }
      break;
  }
  step(rank);
  rank.handling_until_s = now_s_ + cpu_s_;
  rank.did.busy_s += cpu_s_;
}

// Checks that every task is in exactly one state: queued, in flight to a borrower, running,
// finished, or run elsewhere with a result that is not back yet.
void Simulation::recount() {
  std::uint64_t found = finished_;
  for (const Rank& rank : ranks_)
    found += rank.queue.recount() + rank.running.count + rank.results.size();
  std::vector<bool> is_free(mails_.size());
  for (const std::uint32_t slot : free_mails_) is_free[slot] = true;
  for (std::size_t slot = 0; slot < mails_.size(); ++slot)
    if (!is_free[slot]) found += num_tasks_of(mails_[slot].tasks);
  if (found != created_)
    complain(fmt::format("{} tasks were submitted, but {} are accounted for", created_, found));
}

LendingOutcome Simulation::run() {
  while (ranks_done_ < scenario_.num_ranks && outcome_.trouble.empty()) {
    if (events_.empty()) {
      complain(
          fmt::format("deadlock: nothing can happen, but {} ranks wait and {} of {} tasks "
                      "have finished",
                      scenario_.num_ranks - ranks_done_, finished_, created_));
      break;
    }
    if (outcome_.events++ >= scenario_.max_events) {
      complain(fmt::format("no end after {} events", scenario_.max_events));
      break;
    }
    const Event event = events_.top();
    events_.pop();
    happen(event);
    if (scenario_.recount_every > 0 && outcome_.events % scenario_.recount_every == 0) recount();
  }
  recount();
  outcome_.end_s = std::max(now_s_, left_s_) - began_s_;
  outcome_.tasks = finished_;
  outcome_.mean_load_age_s = ages_ > 0 ? age_s_ / ages_ : 0;
  outcome_.max_bytes_out = transport_.max_bytes_out();
  for (const Rank& rank : ranks_) {
    if (rank.created != rank.finished && outcome_.trouble.empty())
      complain(fmt::format("rank {} created {} tasks, but {} have finished", number_of(rank),
                           rank.created, rank.finished));
    outcome_.max_messages_from_one = std::max(outcome_.max_messages_from_one, rank.messages);
    outcome_.max_lent_by_one = std::max(outcome_.max_lent_by_one, rank.lent);
    outcome_.max_peer_bytes = std::max(outcome_.max_peer_bytes, rank.agent.peers().bytes());
    outcome_.ranks.push_back(rank.did);
  }
  return outcome_;
}

}  // namespace

LendingOutcome simulate_lending(const LendingScenario& scenario) {
  return Simulation(scenario).run();
}

}  // namespace poise
