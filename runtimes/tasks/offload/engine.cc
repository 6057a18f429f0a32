// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/offload/engine.h"

#include "poise/base/check.h"

namespace poise::tasks {

namespace {

TerminationTree tree_of(const Locality& locality, std::uint32_t rank) {
  std::vector<std::uint32_t> leaders;
  for (std::uint32_t other = 0; other < locality.nodes.size(); ++other)
    if (locality.nodes[other] == other) leaders.push_back(other);
  return termination_tree(rank, locality.node_of(rank), leaders);
}

}  // namespace

OffloadEngine::OffloadEngine(MPI_Comm communicator, const Locality& locality, const Knobs& settings,
                             Policy policy, TaskPool& pool)
    : messenger_(communicator, locality, settings, policy, pool),
      lent_(pool),
      codec_(messenger_, lent_),
      loads_(communicator, messenger_),
      returns_(messenger_, lent_, loads_,
               [this](const Task& task) { lender_.report_cancelled(task); }),
      lender_(messenger_, codec_, lent_, loads_, returns_, std::move(policy)),
      borrower_(messenger_, codec_, loads_),
      replicas_(messenger_, codec_, lender_),
      termination_(tree_of(locality, messenger_.rank)) {}

void OffloadEngine::enter(double now_s) {
  std::vector<TerminationMessage> out;
  termination_.enter(out);
  messenger_.agent.enter(termination_.wait(), now_s);
  send_termination(out);
}

void OffloadEngine::step(double now_s, std::uint64_t wait, bool all_inside, unsigned threads) {
  messenger_.now_s = now_s;
  messenger_.agent.set_threads(threads);
  if (wait > termination_.wait()) enter(now_s);
  const bool messages_wait =
      messenger_.transport.poll([this](const Transport::Arrival& arrival) { handle(arrival); });
  const TaskPool::State state = messenger_.pool.state();
  returns_.step(state);
  loads_.publish(state);
  if (messenger_.num_ranks > 1 && messenger_.agent.is_inside()) {
    replicas_.step(state, threads);
    lender_.step(state);
    borrower_.step(state, messages_wait);
    loads_.gossip(state);
    if (!messages_wait) answer();
  }
  if (all_inside) detect_termination();
  const Transport& transport = messenger_.transport;
  in_flight_.store(messages_wait || transport.in_flight() || messenger_.agent.has_answers(),
                   std::memory_order_relaxed);
  is_request_undecided_.store(lender_.is_request_undecided(), std::memory_order_relaxed);
  all_messages_notify_.store(
      messenger_.doorbells.all_ranks_notify() && !transport.sends_in_flight() && lent_.empty(),
      std::memory_order_relaxed);
  if (termination_.done()) end_wait();
}

void OffloadEngine::answer() {
  for (const auto& [to, declined] : messenger_.agent.take_answers()) {
    if (declined)
      messenger_.send(to, messenger_.begin(MessageKind::decline, to, declined->requested_at_s));
    else
      messenger_.send_quietly(to, messenger_.begin(MessageKind::load, to));
  }
}

void OffloadEngine::detect_termination() {
  if (termination_.done() || !returns_.empty() || !messenger_.finished.empty() ||
      messenger_.transport.payloads_in_flight())
    return;
  const TaskPool::State now = messenger_.pool.state();
  std::vector<TerminationMessage> out;
  if (now.idle()) termination_.idle(now.created, now.finished, out);
  send_termination(out);
}

void OffloadEngine::end_wait() {
  messenger_.agent.leave();
  replicas_.drop();
  returns_.end_wait();
}

void OffloadEngine::drain() {
  messenger_.transport.drain([this](const Transport::Arrival& arrival) { handle(arrival); });
  POISE_ASSERT(!messenger_.doorbells.is_pending());  // every announced message has arrived
  replicas_.drop();
}

void OffloadEngine::handle(const Transport::Arrival& arrival) {
  Message message = messenger_.open(arrival);
  switch (message.kind) {
    case MessageKind::tasks: borrower_.handle_tasks(message); break;
    case MessageKind::results: returns_.handle(message); break;
    case MessageKind::steal_request: lender_.handle_request(message); break;
    case MessageKind::decline: borrower_.handle_decline(message); break;
    case MessageKind::load: break;
    case MessageKind::replica: replicas_.handle_replica(message); break;
    case MessageKind::claim: replicas_.handle_claim(message); break;
    case MessageKind::grant: replicas_.handle_answer(message, true); break;
    case MessageKind::refuse: replicas_.handle_answer(message, false); break;
    case MessageKind::termination: {
      termination_rounds_.fetch_add(1, std::memory_order_relaxed);
      std::vector<TerminationMessage> out;
      termination_.handle(message.from, message.reader.get<TerminationMessage>(), out);
      send_termination(out);
      break;
    }
  }
}

void OffloadEngine::send_termination(const std::vector<TerminationMessage>& messages) {
  for (const TerminationMessage& message : messages) {
    Writer writer = messenger_.begin(MessageKind::termination, message.to);
    writer.put(message);
    messenger_.send(message.to, std::move(writer));
  }
}

}  // namespace poise::tasks
