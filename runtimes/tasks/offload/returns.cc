// SPDX-License-Identifier: BSD-3-Clause
// The part of the offload engine that returns results to the owner rank of each task.
#include <algorithm>
#include <map>

#include "runtimes/tasks/offload/engine.h"
#include "runtimes/tasks/transport/clock.h"
#include "runtimes/tasks/transport/copy.h"
#include "runtimes/tasks/tuning.h"

namespace poise::tasks {

namespace {

// Where the receiver finds the data that a task wrote.
enum class Location : std::uint8_t { in_header, in_place, in_payload };

struct ResultHeader {
  std::uint64_t slot;
  float seconds;
  std::uint32_t error_bytes;  // length of the error text; a failed task returns no data
  bool failed;
};

}  // namespace

void OffloadEngine::send_results(const TaskPool::State& state) {
  if (state.done_borrowed > 0) {
    if (results_.empty()) oldest_result_s_ = now_s_;
    for (auto& task : pool_.take_done_borrowed()) results_.push_back(std::move(task));
  }
  if (results_.empty()) return;
  if (state.queued > 0 && now_s_ - oldest_result_s_ < tuning::kMaxResultDelay_s) return;
  std::map<std::uint32_t, std::vector<std::unique_ptr<Task>>> by_owner;
  const std::size_t sent = results_.size();
  for (auto& task : results_) {
    const std::uint32_t owner = task->owner;
    const bool is_long = task->extras->result.size() >= large_bytes_;
    auto& tasks = by_owner[owner];
    tasks.push_back(std::move(task));
    if (is_long) send_results_to(owner, std::exchange(tasks, {}));
  }
  results_.clear();
  for (auto& [owner, tasks] : by_owner)
    if (!tasks.empty()) send_results_to(owner, std::move(tasks));
  pool_.borrowed_departed(sent);
}

void OffloadEngine::send_results_to(std::uint32_t owner, std::vector<std::unique_ptr<Task>> tasks) {
  Writer header = begin(Kind::results, owner);
  header.put(static_cast<std::uint32_t>(tasks.size()));
  std::vector<Payload> payloads;
  for (const auto& task : tasks) {
    const std::string& error = task->extras->error;
    header.put(ResultHeader{task->slot, static_cast<float>(task->seconds),
                            static_cast<std::uint32_t>(error.size()), task->failed});
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
  send(owner, std::move(header), std::move(payloads), std::move(keep));
}

void OffloadEngine::write_output(Writer& header, const Item& item, std::vector<Payload>& payloads) {
  counters_.bytes_back += item.bytes;
  if (arena_.find(item.data, item.bytes)) {
    header.put(Location::in_place);
    return;
  }
  counters_.bytes_sent += item.bytes;
  const bool in_payload = is_sent_as_payload(item.bytes, header);
  header.put(in_payload ? Location::in_payload : Location::in_header);
  if (in_payload)
    payloads.push_back({item.data, item.bytes});
  else
    header.put(item.data, item.bytes, 1);
}

// A long result stays in place if the owner shares that memory.
void OffloadEngine::write_result(Writer& header, Buffer& result, std::vector<Payload>& payloads) {
  counters_.bytes_back += result.size();
  header.put(static_cast<std::uint64_t>(result.size()));
  const double bytes = static_cast<double>(result.size());
  const bool may_stay =
      result.size() >= large_bytes_ && kept_bytes_ + bytes <= tuning::kMaxKeptBytes;
  if (const auto spot = may_stay ? arena_.find(result.data(), result.size()) : std::nullopt) {
    header.put(Location::in_place);
    header.put(*spot);
    kept_bytes_ += bytes;
    kept_results_.push_back(std::move(result));
    return;
  }
  counters_.bytes_sent += result.size();
  const bool in_payload = is_sent_as_payload(result.size(), header);
  header.put(in_payload ? Location::in_payload : Location::in_header);
  if (in_payload)
    payloads.push_back({result.data(), result.size()});
  else
    header.put(result.data(), result.size(), 1);
}

void OffloadEngine::read_result_bytes(Buffer& result, Reader& reader,
                                      std::vector<Payload>& payloads) {
  const auto bytes = reader.get<std::uint64_t>();
  result = Buffer();
  switch (reader.get<Location>()) {
    case Location::in_header: result.append(reader.get(bytes, 1), bytes); break;
    case Location::in_place:
      counters_.bytes_in_place += bytes;
      result = Buffer::view(static_cast<std::byte*>(arena_.at(reader.get<Arena::Spot>())), bytes);
      break;
    case Location::in_payload:
      result.resize(bytes);
      payloads.push_back({result.data(), bytes});
      break;
  }
}

void OffloadEngine::handle_results(const Transport::Arrival& arrival, Reader& reader,
                                   std::uint32_t from) {
  const auto num_tasks = reader.get<std::uint32_t>();
  const double begin_s = clock_s();
  double bytes = 0;  // bytes in both directions, as when the tasks were lent
  for (std::uint32_t i = 0; i < num_tasks; ++i) bytes += read_result(arrival, reader, from);
  const double seconds = clock_s() - begin_s;
  unpacking_.learn(num_tasks, bytes, seconds);
  counters_.transfer_s += seconds;
}

std::unique_ptr<Task> OffloadEngine::take_slot(std::uint64_t slot) {
  POISE_CHECK(slot < slots_.size() && slots_[slot]);
  free_slots_.push_back(slot);
  return std::move(slots_[slot]);
}

// Reads the outputs that are in the header. Returns where the payloads have to go.
std::vector<Payload> OffloadEngine::read_outputs(Task& task, Reader& reader) {
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
        (copy ? counters_.bytes_copied : counters_.bytes_in_place) += item.bytes;
        break;
      case Location::in_payload: payloads.push_back({item.data, item.bytes}); break;
    }
  }
  return payloads;
}

// Learns from a result: the run time of the function if this rank does not know it, else the
// slowness of the rank that ran the task.
void OffloadEngine::learn_time(const Task& task, double seconds, std::uint32_t ran_on) {
  double& slowness = peers_[ran_on].slowness;
  const double expected_s = pool_.times().per_unit(task.function) * task.cost;
  if (expected_s <= 0)
    pool_.learn_time(task.function, seconds / slowness, task.cost);
  else
    slowness = std::clamp(moved_average(slowness, seconds / expected_s, tuning::kSlownessWeight),
                          tuning::kMinSlowness, tuning::kMaxSlowness);
}

double OffloadEngine::read_result(const Transport::Arrival& arrival, Reader& reader,
                                  std::uint32_t from) {
  const auto header = reader.get<ResultHeader>();
  auto task = take_returned(header.slot);
  if (header.slot & kReplicaBit) report_cancelled(*task);  // reports the original as cancelled
  const double bytes = task->bytes().both();
  task->failed = header.failed;
  const auto* text = reinterpret_cast<const char*>(reader.get(header.error_bytes, 1));
  if (task->failed) task->extras.make().error.assign(text, header.error_bytes);
  task->ran_on = from;
  std::vector<Payload> payloads;
  if (!task->failed) {
    payloads = read_outputs(*task, reader);
    learn_time(*task, header.seconds, from);
  }
  task->forget_copies();
  if (payloads.empty()) {
    finished_.push_back(std::move(task));
    return bytes;
  }
  const auto shared = std::make_shared<std::unique_ptr<Task>>(std::move(task));
  transport_.fetch(arrival, payloads, [this, shared] { finished_.push_back(std::move(*shared)); });
  return bytes;
}

}  // namespace poise::tasks
