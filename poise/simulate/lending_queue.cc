// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/lending_queue.h"

#include <algorithm>

namespace poise {

void LendingQueue::push_own(const TaskGroup& group) {
  if (group.ticket != 0) turn_of_ticket_[group.ticket] = num_left_ + own_.size();
  own_.push_back(group);
  num_own_ += group.count;
  cost_ += cost_of(group);
}

void LendingQueue::push_borrowed(const TaskGroup& group) {
  borrowed_.push_back(group);
  num_borrowed_ += group.count;
  cost_ += cost_of(group);
}

void LendingQueue::drop_empty_ends() {
  for (; !own_.empty() && own_.front().count == 0; ++num_left_) own_.pop_front();
  while (!own_.empty() && own_.back().count == 0) own_.pop_back();
}

std::optional<TaskGroup> LendingQueue::take_next() {
  const bool is_own = borrowed_.empty();
  std::deque<TaskGroup>& queue = is_own ? own_ : borrowed_;
  if (queue.empty()) return std::nullopt;
  TaskGroup task = queue.front();
  task.count = 1;
  --queue.front().count;
  if (is_own)
    drop_empty_ends();
  else if (queue.front().count == 0)
    queue.pop_front();
  --(is_own ? num_own_ : num_borrowed_);
  cost_ -= cost_of(task);
  if (size() == 0) cost_ = 0;  // no rounding error remains
  return task;
}

std::vector<TaskGroup> LendingQueue::take_last(std::uint64_t tasks, bool borrowed_too) {
  std::vector<TaskGroup> taken;
  const auto take_from = [&](std::deque<TaskGroup>& queue, std::uint64_t& number) {
    while (tasks > 0 && !queue.empty()) {
      TaskGroup part = queue.back();
      part.count = std::min<std::uint64_t>(tasks, part.count);
      queue.back().count -= part.count;
      if (&queue == &own_)
        drop_empty_ends();
      else if (queue.back().count == 0)
        queue.pop_back();
      number -= part.count;
      cost_ -= cost_of(part);
      tasks -= part.count;
      taken.push_back(part);
    }
  };
  take_from(own_, num_own_);
  if (borrowed_too) take_from(borrowed_, num_borrowed_);
  return taken;
}

std::optional<TaskGroup> LendingQueue::take_ticket(std::uint64_t ticket) {
  const auto turn = turn_of_ticket_.find(ticket);
  if (turn == turn_of_ticket_.end() || turn->second < num_left_) return std::nullopt;
  const std::uint64_t index = turn->second - num_left_;
  if (index >= own_.size() || own_[index].ticket != ticket || own_[index].count == 0)
    return std::nullopt;
  const TaskGroup task = own_[index];
  own_[index].count = 0;
  drop_empty_ends();
  --num_own_;
  cost_ -= cost_of(task);
  return task;
}

}  // namespace poise
