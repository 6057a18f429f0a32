// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/offload/borrower.h"

#include "poise/base/clock.h"

namespace poise::tasks {

void BorrowerSide::step(const TaskPool::State& state, bool messages_wait) {
  LendingAgent& agent = messenger_.agent;
  // Unresponsive victims are ranks that have tasks but do not answer a steal request, probably
  // because they run a long task.
  for (const std::uint32_t rank : agent.unresponsive_victims(messenger_.now_s))
    messenger_.doorbells.wake_progress(rank);
  if (messages_wait || !agent.steal_is_due(state, messenger_.now_s)) return;
  loads_.read_table();
  const auto request = agent.steal(state, messenger_.now_s);
  if (!request) return;
  ++messenger_.counters.requests;
  Writer header = messenger_.begin(MessageKind::steal_request, request->victim, wall_now_s());
  header.put(request->is_lasting);
  messenger_.send(request->victim, std::move(header));
}

void BorrowerSide::handle_tasks(Message& message) {
  const double begin_s = wall_now_s();
  messenger_.agent.got_tasks(message.from, message.requested_at_s, begin_s);
  const auto num_tasks = message.reader.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < num_tasks; ++i)
    codec_.read(message, [this, from = message.from](std::unique_ptr<Task> task) {
      messenger_.agent.received(from, 1);
      task->was_passed_on = task->owner != from;
      messenger_.pool.accept_borrowed(std::move(task));
    });
  messenger_.counters.transfer_s += wall_now_s() - begin_s;
}

void BorrowerSide::handle_decline(const Message& message) {
  if (messenger_.agent.was_declined(message.from, message.requested_at_s, wall_now_s()))
    ++messenger_.counters.declines;
}

}  // namespace poise::tasks
