// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/offload/codec.h"

#include <utility>

#include "runtimes/tasks/offload/task_format.h"
#include "runtimes/tasks/transport/copy.h"

#include "poise/base/clock.h"

namespace poise::tasks {

// Returns where in shared memory another rank of this node finds an item (an argument of the task),
// or nothing if the item must be sent. A large item of this rank's own tasks is copied to shared
// memory unless it is there already. If this rank lends a borrowed task on, it does not copy the
// items: the task's results go straight to the owner, so this rank would never free the copies.
std::optional<Spot> TaskCodec::spot_of(Task& task, std::size_t i) {
  const Item& item = task.items[i];
  if (!item.data || item.mode == Mode::result || item.bytes == 0) return std::nullopt;
  if (const auto spot = messenger_.arena.find(item.data, item.bytes)) {
    messenger_.counters.bytes_in_place += item.goes_out() ? item.bytes : 0;
    return spot;
  }
  if (item.bytes < messenger_.large_bytes || task.owner != messenger_.rank) return std::nullopt;
  auto& copies = task.extras.make().copies;
  copies.resize(task.items.size());
  auto& copy = copies[i];
  if (!copy) {
    void* const data = messenger_.arena.try_allocate(item.bytes);
    if (!data) return std::nullopt;
    copy = {static_cast<std::byte*>(data), [this, bytes = item.bytes](std::byte* p) {
              messenger_.arena.deallocate(p, bytes, kAlignment);
            }};
    if (item.goes_out()) {
      copy_past_caches(copy.get(), item.data, item.bytes);
      messenger_.counters.bytes_copied += item.bytes;
    }
  }
  return messenger_.arena.find(copy.get(), item.bytes);
}

void TaskCodec::write(Writer& header, Task& task, std::uint32_t to,
                      std::vector<Payload>& payloads) {
  if (task.owner == to) return write_returned_task(header, task);
  spots_.clear();
  if (messenger_.arena.shared_with(to))
    for (std::size_t i = 0; i < task.items.size(); ++i) spots_.push_back(spot_of(task, i));
  messenger_.counters.bytes_sent +=
      write_task(header, task, spots_, messenger_.large_bytes, payloads);
}

void TaskCodec::read(Message& message, std::function<void(std::unique_ptr<Task>)> then) {
  ArrivedTask arrived = read_task(message.reader, messenger_.rank, message.arrival.header);
  if (!arrived.task) {
    messenger_.agent.received(message.from, 1);
    auto task = lent_.take(arrived.slot);
    task->forget_copies();
    messenger_.pool.take_back(std::move(task));
    return;
  }
  Task& task = *arrived.task;
  for (const auto& [item, spot] : arrived.in_place)
    task.items[item].data = messenger_.arena.at(spot);
  for (const Item& item : task.items)
    if (item.mode == Mode::result && messenger_.arena.shared_with(task.owner))
      *static_cast<Buffer*>(item.data) = Buffer(&messenger_.arena);
  if (arrived.payloads.empty()) return then(std::move(arrived.task));
  double bytes = 0;
  for (const Payload& payload : arrived.payloads) bytes += payload.bytes;
  const double begin_s = wall_now_s();
  const auto shared = std::make_shared<std::unique_ptr<Task>>(std::move(arrived.task));
  messenger_.transport.fetch(
      message.arrival, arrived.payloads,
      [this, shared, bytes, begin_s, from = message.from, then = std::move(then)] {
        messenger_.agent.learn_byte_s(from, (wall_now_s() - begin_s) / bytes);
        then(std::move(*shared));
      });
}

}  // namespace poise::tasks
