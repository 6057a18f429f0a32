// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/pool/queue.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "poise/online/lending_tuning.h"

namespace poise::tasks {

namespace {

// Removes null pointers from both ends.
void trim(std::deque<std::unique_ptr<Task>>& tasks) {
  while (!tasks.empty() && !tasks.front()) tasks.pop_front();
  while (!tasks.empty() && !tasks.back()) tasks.pop_back();
}

}  // namespace

void Queue::count(const Task& task, int sign) {
  size_ += sign;
  if (task.siblings)
    task.siblings->queued += sign;
  else if (task.has_parent)
    borrowed_children_ += sign;
  if (task.pinned) return;
  lendable_ += sign;
  if (task.cost != 1) num_costly_ += sign;
  cost_[task.function] += sign * task.cost;
  bytes_.out += sign * task.queued.out;
  bytes_.back += sign * task.queued.back;
  if (lendable_ == 0) std::ranges::fill(cost_, 0);  // avoids accumulating rounding errors
}

void Queue::push_borrowed(std::unique_ptr<Task> task) {
  task->enter(TaskState::queued);
  count(*task, +1);
  const auto is_shorter = [&](const std::unique_ptr<Task>& other) {
    return other->function == task->function && other->cost < task->cost;
  };
  auto spot = borrowed_.end();
  for (std::size_t passed = 0; passed < lending_tuning::kMaxSearched; ++passed, --spot)
    if (spot == borrowed_.begin() || !is_shorter(*std::prev(spot))) break;
  borrowed_.insert(spot, std::move(task));
}

void Queue::push(std::unique_ptr<Task> task, bool newest_first) {
  task->enter(TaskState::queued);
  count(*task, +1);
  Level& level = levels_[task->priority];
  Tasks& tasks = task->pinned ? level.pinned : level.free;
  const Ticket ticket = task->extras->ticket;
  auto& place =
      newest_first ? tasks.emplace_front(std::move(task)) : tasks.emplace_back(std::move(task));
  if (ticket != 0) by_ticket_[ticket] = &place;
}

std::unique_ptr<Task> Queue::leave(std::unique_ptr<Task> task) {
  task->enter(TaskState::taken);
  count(*task, -1);
  if (task->extras->ticket != 0) by_ticket_.erase(task->extras->ticket);
  return task;
}

Queue::Tasks* Queue::first() {
  if (!borrowed_.empty()) return &borrowed_;
  for (auto level = levels_.begin(); level != levels_.end(); level = levels_.erase(level)) {
    if (!level->second.pinned.empty()) return &level->second.pinned;
    if (!level->second.free.empty()) return &level->second.free;
  }
  return nullptr;
}

std::unique_ptr<Task> Queue::pop_from(Tasks& tasks) {
  std::unique_ptr<Task> task = std::move(tasks.front());
  trim(tasks);
  auto later = tasks.begin();
  if (later != tasks.end()) (*later)->prefetch_data();
  if (later != tasks.end() && ++later != tasks.end() && *later) (*later)->prefetch();
  return leave(std::move(task));
}

std::unique_ptr<Task> Queue::take_at(Tasks& tasks, std::unique_ptr<Task>& task) {
  std::unique_ptr<Task> taken = std::move(task);
  trim(tasks);
  return leave(std::move(taken));
}

std::unique_ptr<Task> Queue::take_ticket(Ticket ticket) {
  const auto found = by_ticket_.find(ticket);
  if (found == by_ticket_.end()) return nullptr;
  std::unique_ptr<Task>& task = *found->second;
  return take_at(levels_.find(task->priority)->second.free, task);
}

// Children enter at the front of their priority level, so most of them are still near the front.
std::unique_ptr<Task> Queue::pop_of(const Children& children) {
  if (children.queued == 0) return nullptr;
  const auto is_one = [&](const auto& task) { return task && task->siblings.get() == &children; };
  for (const std::size_t near : {lending_tuning::kMaxSearched, std::size_t{SIZE_MAX}})
    for (auto& [priority, level] : levels_)
      for (auto* tasks : {&level.pinned, &level.free}) {
        const auto end = tasks->begin() + std::min(near, tasks->size());
        const auto found = std::find_if(tasks->begin(), end, is_one);
        if (found == end) continue;
        std::unique_ptr<Task> task = std::move(*found);
        // A null pointer left here would make the next search longer, so the pointer is erased. But
        // this moves other pointers, so it must not be done while by_ticket_ has their addresses.
        if (by_ticket_.empty()) tasks->erase(found);
        trim(*tasks);
        return leave(std::move(task));
      }
  return nullptr;
}

std::unique_ptr<Task> Queue::pop_borrowed_child() {
  if (borrowed_children_ == 0) return nullptr;
  const auto found =
      std::ranges::find_if(borrowed_, [](const auto& task) { return task->has_parent; });
  std::unique_ptr<Task> task = std::move(*found);
  borrowed_.erase(found);
  return leave(std::move(task));
}

std::unique_ptr<Task> Queue::take_last(bool borrowed_too) {
  const auto take = [&](Tasks& tasks) { return take_at(tasks, tasks.back()); };
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
    if (!level->second.free.empty()) return take(level->second.free);
  if (borrowed_too && !borrowed_.empty()) return take(borrowed_);
  return nullptr;
}

std::vector<std::unique_ptr<Task>> Queue::take(const std::function<bool(const Task&)>& wanted) {
  std::vector<std::unique_ptr<Task>> taken;
  const auto take_from = [&](Tasks& tasks) {
    for (auto& task : tasks)
      if (task && wanted(*task)) taken.push_back(leave(std::move(task)));
    trim(tasks);
  };
  take_from(borrowed_);
  std::erase(borrowed_, nullptr);
  for (auto& [priority, level] : levels_) take_from(level.free);
  return taken;
}

void Queue::for_each_lendable(const std::function<void(Task&)>& visit) const {
  for (const auto& task : borrowed_) visit(*task);
  for (const auto& [priority, level] : levels_)
    for (const auto& task : level.free)
      if (task) visit(*task);
}

}  // namespace poise::tasks
