// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/offload/returns.h"

#include <utility>

#include "runtimes/tasks/transport/copy.h"
#include "runtimes/tasks/tuning.h"

#include "poise/base/clock.h"

namespace poise::tasks {

namespace {

// The location at which the receiver finds the data that a task wrote.
enum class Location : std::uint8_t { in_header, in_place, in_payload };

struct ResultHeader {
  std::uint64_t slot;
  float seconds;
  std::uint32_t error_bytes;  // length of the error text; a failed task returns no data
  bool failed;
};

}  // namespace

void Returns::step(const TaskPool::State& state) {
  const double now_s = messenger_.now_s;
  if (state.done_borrowed > 0)
    for (auto& task : messenger_.pool.take_done_borrowed()) {
      const std::uint32_t owner = task->owner;
      results_.add(owner, std::move(task), now_s);
    }
  if (results_.empty()) return;
  for (auto& [owner, tasks] : results_.take_due(state.queued == 0, now_s, messenger_.agent))
    send(owner, std::move(tasks));
}

void Returns::send_results_of(std::uint32_t owner) {
  auto finished = results_.take_of(owner, messenger_.agent);
  if (!finished.empty()) send(owner, std::move(finished));
}

void Returns::send(std::uint32_t owner, std::vector<std::unique_ptr<Task>> finished) {
  const std::size_t num_tasks = finished.size();
  std::vector<std::unique_ptr<Task>> tasks;
  for (auto& task : finished) {
    const bool is_long = task->extras->result.size() >= messenger_.large_bytes;
    tasks.push_back(std::move(task));
    if (is_long) send_message(owner, std::exchange(tasks, {}));
  }
  if (!tasks.empty()) send_message(owner, std::move(tasks));
  messenger_.pool.borrowed_departed(num_tasks);
}

void Returns::send_message(std::uint32_t owner, std::vector<std::unique_ptr<Task>> tasks) {
  Writer header = messenger_.begin(MessageKind::results, owner);
  header.put(static_cast<std::uint32_t>(tasks.size()));
  std::vector<Payload> payloads;
  for (const auto& task : tasks) {
    task->enter(TaskState::sent);
    const std::string& error = task->extras->error;
    header.put(ResultHeader{task->slot, task->seconds, static_cast<std::uint32_t>(error.size()),
                            task->failed});
    header.put(error.data(), error.size(), 1);
    if (task->failed) continue;
    for (const Item& item : task->items) {
      if (item.mode == Mode::result)
        write_result(header, task->extras.make().result, payloads);
      else if (item.comes_back() && item.data)
        write_output(header, item, payloads);
    }
  }
  auto keep = std::make_shared<std::vector<std::unique_ptr<Task>>>(std::move(tasks));
  messenger_.send(owner, std::move(header), std::move(payloads), std::move(keep));
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
  // Bytes that the tasks carried in both directions, counted as by LenderSide::pack().
  double bytes = 0;
  for (std::uint32_t i = 0; i < num_tasks; ++i) bytes += read_result(message);
  const double seconds = wall_now_s() - begin_s;
  messenger_.agent.costs().unpacking.learn(num_tasks, bytes, seconds);
  messenger_.counters.transfer_s += seconds;
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
// the other rank is.
void Returns::learn_time(const Task& task, double seconds, std::uint32_t ran_on) {
  LendingAgent& agent = messenger_.agent;
  const double expected_s = messenger_.pool.times().per_unit(task.function) * task.cost;
  if (expected_s <= 0)
    messenger_.pool.learn_time(task.function, seconds / agent.slowness_of(ran_on), task.cost);
  else
    agent.learn_slowness(ran_on, seconds, expected_s);
}

double Returns::read_result(Message& message) {
  Reader& reader = message.reader;
  const auto header = reader.get<ResultHeader>();
  auto task = lent_.take(header.slot);
  task->enter(TaskState::ending);
  // A copy ran, so the original counts as cancelled.
  if (header.slot & kReplicaBit) cancelled_(*task);
  const double bytes = task->bytes().both();
  task->failed = header.failed;
  const auto* text = reinterpret_cast<const char*>(reader.get(header.error_bytes, 1));
  if (task->failed) task->extras.make().error.assign(text, header.error_bytes);
  task->ran_on = message.from;
  std::vector<Payload> payloads;
  if (!task->failed) {
    payloads = read_outputs(*task, reader);
    learn_time(*task, header.seconds, message.from);
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
