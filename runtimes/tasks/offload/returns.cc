// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/offload/returns.h"

#include <algorithm>
#include <utility>

#include "runtimes/tasks/transport/copy.h"
#include "runtimes/tasks/tuning.h"

#include "poise/base/clock.h"
#include "poise/online/lending_tuning.h"

namespace poise::tasks {

namespace {

// The location at which the receiver finds the data that a task wrote.
enum class Location : std::uint8_t { in_header, in_place, in_payload };

// What precedes the data of each result in a message.
struct ResultHeader {
  std::uint64_t slot;
  float seconds;
  std::uint32_t owner, ran_on;
  std::uint32_t bytes;        // size of the result that follows this header, without payloads
  std::uint32_t error_bytes;  // length of the error text; a failed task returns no data
  bool failed, has_waited;
};

constexpr auto kMessageBytes = static_cast<std::size_t>(lending_tuning::kMessageBytes);

// Maximum number of bytes that the result of a task takes in the header of a message.
std::size_t result_bytes(const Task& task) {
  return task.bytes().back + task.extras->result.size() + task.extras->error.size();
}

}  // namespace

void Returns::step(const TaskPool::State& state) {
  const double now_s = messenger_.now_s;
  if (state.done_borrowed > 0)
    for (auto& task : messenger_.pool.take_done_borrowed()) {
      const std::uint32_t to = receiver_of(*task);
      results_.add(to, {std::move(task), {}}, now_s);
    }
  if (results_.empty()) return;
  for (auto& [to, results] : results_.take_due(state.queued == 0, now_s, messenger_.agent))
    send(to, std::move(results));
}

// Returns the rank to which to send the result of a task: the owner, or the collector of this node.
// A large result goes to the owner, for two reasons. A collector forwards only results that are in
// the header of a message, without payloads. And a collector saves the owner the time of handling a
// message, which is little compared with the time of reading a large result. If the collector has
// not entered this wait, the result goes to the owner as well: the collector's program may be
// waiting for a message that the owner's program sends only when the owner has all results.
std::uint32_t Returns::receiver_of(const Task& task) const {
  if (result_bytes(task) >= std::min(messenger_.large_bytes, kMessageBytes)) return task.owner;
  const auto receiver = [&] {
    return messenger_.agent.returns_to(task.owner, task.wants_collector, task.was_passed_on);
  };
  const std::uint32_t to = receiver();
  return to == task.owner || loads_.read_table(to) ? receiver() : task.owner;
}

void Returns::send_results_of(std::uint32_t owner) {
  auto results = results_.take_of(owner, messenger_.agent);
  if (!results.empty()) send(owner, std::move(results));
}

// Sends results in one or more messages. A message ends after a long result, or when its results
// for a collector have kMessageBytes in total. The results for a collector come first, so that the
// header has room for them: a result that did not fit would become a payload, which the collector
// would not forward.
void Returns::send(std::uint32_t to, std::vector<Held> results) {
  std::ranges::stable_partition(
      results, [=](const Held& result) { return result.task && result.task->owner != to; });
  std::size_t num_tasks = 0, collected_bytes = 0;
  std::vector<Held> part;
  for (Held& result : results) {
    num_tasks += result.task != nullptr;
    const bool is_to_collect = result.task && result.task->owner != to;
    collected_bytes += is_to_collect ? result_bytes(*result.task) : result.collected.size();
    const bool is_long =
        collected_bytes >= kMessageBytes ||
        (result.task && result.task->extras->result.size() >= messenger_.large_bytes);
    part.push_back(std::move(result));
    if (!is_long) continue;
    send_message(to, std::exchange(part, {}));
    collected_bytes = 0;
  }
  if (!part.empty()) send_message(to, std::move(part));
  messenger_.pool.borrowed_departed(num_tasks);
}

void Returns::send_message(std::uint32_t to, std::vector<Held> results) {
  Writer header = messenger_.begin(MessageKind::results, to);
  header.put(static_cast<std::uint32_t>(results.size()));
  std::vector<Payload> payloads;
  for (const Held& result : results)
    if (result.task)
      write_task_result(header, *result.task, payloads);
    else
      header.put(result.collected.data(), result.collected.size(), 1);
  auto keep = std::make_shared<std::vector<Held>>(std::move(results));
  messenger_.send(to, std::move(header), std::move(payloads), std::move(keep));
}

void Returns::write_task_result(Writer& header, Task& task, std::vector<Payload>& payloads) {
  task.enter(TaskState::sent);
  const std::string& error = task.extras->error;
  const std::size_t begin = header.size();
  ResultHeader result{.slot = task.slot,
                      .seconds = task.seconds,
                      .owner = task.owner,
                      .ran_on = messenger_.rank,
                      .bytes = 0,
                      .error_bytes = static_cast<std::uint32_t>(error.size()),
                      .failed = task.failed,
                      .has_waited = task.has_waited};
  header.put(result);
  header.put(error.data(), error.size(), 1);
  if (!task.failed)
    for (const Item& item : task.items) {
      if (item.mode == Mode::result)
        write_result(header, task.extras.make().result, payloads);
      else if (item.comes_back() && item.data)
        write_output(header, item, payloads);
    }
  result.bytes = static_cast<std::uint32_t>(header.size() - begin - sizeof result);
  header.patch(begin, result);
}

void Returns::write_output(Writer& header, const Item& item, std::vector<Payload>& payloads) {
  messenger_.counters.bytes_back += item.bytes;
  if (messenger_.arena.find(item.data, item.bytes)) {
    header.put(Location::in_place);
    return;
  }
  messenger_.counters.bytes_sent += item.bytes;
  const bool in_payload = messenger_.is_sent_as_payload(item.bytes, header);
  header.put(in_payload ? Location::in_payload : Location::in_header);
  if (in_payload)
    payloads.push_back({item.data, item.bytes});
  else
    header.put(item.data, item.bytes, 1);
}

// A long result stays in this rank's memory, without being sent, if the owner shares that memory.
void Returns::write_result(Writer& header, Buffer& result, std::vector<Payload>& payloads) {
  messenger_.counters.bytes_back += result.size();
  header.put(result.size());
  const double bytes = result.size();
  const bool may_stay =
      result.size() >= messenger_.large_bytes && kept_bytes_ + bytes <= tuning::kMaxKeptBytes;
  if (const auto spot =
          may_stay ? messenger_.arena.find(result.data(), result.size()) : std::nullopt) {
    header.put(Location::in_place);
    header.put(*spot);
    kept_bytes_ += bytes;
    kept_.push_back(std::move(result));
    return;
  }
  messenger_.counters.bytes_sent += result.size();
  const bool in_payload = messenger_.is_sent_as_payload(result.size(), header);
  header.put(in_payload ? Location::in_payload : Location::in_header);
  if (in_payload)
    payloads.push_back({result.data(), result.size()});
  else
    header.put(result.data(), result.size(), 1);
}

void Returns::read_result_bytes(Buffer& result, Reader& reader, std::vector<Payload>& payloads) {
  const auto bytes = reader.get<std::uint64_t>();
  result = Buffer();
  switch (reader.get<Location>()) {
    case Location::in_header: result.append(reader.get(bytes, 1), bytes); break;
    case Location::in_place:
      messenger_.counters.bytes_in_place += bytes;
      result = Buffer::view(static_cast<std::byte*>(messenger_.arena.at(reader.get<Arena::Spot>())),
                            bytes);
      break;
    case Location::in_payload:
      result.resize(bytes);
      payloads.push_back({result.data(), bytes});
      break;
  }
}

void Returns::handle(Message& message) {
  messenger_.agent.got_results(message.from);
  const auto num_tasks = message.reader.get<std::uint32_t>();
  const double begin_s = wall_now_s();
  // The number of bytes that the tasks carried in both directions, counted as in
  // LenderSide::pack().
  double bytes = 0;
  std::size_t num_own = 0;
  for (std::uint32_t i = 0; i < num_tasks; ++i) {
    if (is_for_other(message)) continue;
    bytes += read_result(message);
    ++num_own;
  }
  const double seconds = wall_now_s() - begin_s;
  if (num_own == num_tasks) messenger_.agent.costs().unpacking.learn(num_tasks, bytes, seconds);
  messenger_.counters.transfer_s += seconds;
}

// If the next result in the message belongs to another rank, holds it for that rank, and returns
// true.
bool Returns::is_for_other(Message& message) {
  Reader at = message.reader;
  const auto header = at.get<ResultHeader>();
  if (header.owner == messenger_.rank) return false;
  const std::size_t bytes = sizeof header + header.bytes;
  const std::byte* const begin = message.reader.get(bytes, 1);
  results_.add(header.owner, {nullptr, {begin, begin + bytes}}, messenger_.now_s);
  return true;
}

void Returns::end_wait() {
  kept_.clear();
  kept_bytes_ = 0;
}

// Reads those outputs that are in the message's header. Returns where to store the other outputs,
// which arrive as payloads.
std::vector<Payload> Returns::read_outputs(Task& task, Reader& reader) {
  std::vector<Payload> payloads;
  for (std::size_t i = 0; i < task.items.size(); ++i) {
    const Item& item = task.items[i];
    if (item.mode == Mode::result)
      read_result_bytes(*static_cast<Buffer*>(item.data), reader, payloads);
    if (!item.comes_back() || !item.data) continue;
    const auto& copies = task.extras->copies;
    const void* const copy = i < copies.size() ? copies[i].get() : nullptr;
    switch (reader.get<Location>()) {
      case Location::in_header:
        if (item.bytes > 0) std::memcpy(item.data, reader.get(item.bytes, 1), item.bytes);
        break;
      case Location::in_place:
        if (copy) copy_past_caches(item.data, copy, item.bytes);
        (copy ? messenger_.counters.bytes_copied : messenger_.counters.bytes_in_place) +=
            item.bytes;
        break;
      case Location::in_payload: payloads.push_back({item.data, item.bytes}); break;
    }
  }
  return payloads;
}

// Updates estimates from the time that another rank needed for a task. If this rank does not yet
// know the run time of the task's function, it learns the run time; otherwise it learns how slow
// the other rank is. The time of a task that has waited does not tell how slow the other rank is: a
// task near the root of a recursion takes many times the mean time of its function.
void Returns::learn_time(const Task& task, double seconds, std::uint32_t ran_on) {
  LendingAgent& agent = messenger_.agent;
  const double expected_s = messenger_.pool.times().per_unit(task.function) * task.cost;
  if (expected_s <= 0)
    messenger_.pool.learn_time(task.function, seconds / agent.slowness_of(ran_on), task.cost);
  else if (!task.has_waited)
    agent.learn_slowness(ran_on, seconds, expected_s);
}

double Returns::read_result(Message& message) {
  Reader& reader = message.reader;
  const auto header = reader.get<ResultHeader>();
  auto task = lent_.take(header.slot);
  task->enter(TaskState::ending);
  // Another rank ran a copy of the task, so the original counts as cancelled.
  if (header.slot & kReplicaBit) cancelled_(*task);
  const double bytes = task->bytes().both();
  task->failed = header.failed;
  task->has_waited = header.has_waited;
  const auto* text = reinterpret_cast<const char*>(reader.get(header.error_bytes, 1));
  if (task->failed) task->extras.make().error.assign(text, header.error_bytes);
  task->ran_on = header.ran_on;
  std::vector<Payload> payloads;
  if (!task->failed) {
    payloads = read_outputs(*task, reader);
    learn_time(*task, header.seconds, header.ran_on);
  }
  task->forget_copies();
  if (payloads.empty()) {
    messenger_.finished.push_back(std::move(task));
    return bytes;
  }
  const auto shared = std::make_shared<std::unique_ptr<Task>>(std::move(task));
  messenger_.transport.fetch(message.arrival, payloads,
                             [this, shared] { messenger_.finished.push_back(std::move(*shared)); });
  return bytes;
}

}  // namespace poise::tasks
