// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/pool/dependencies.h"

#include <algorithm>
#include <utility>

namespace poise::tasks {

namespace {

void add_edge(const std::shared_ptr<DependencyNode>& before,
              const std::shared_ptr<DependencyNode>& after) {
  if (!before || before == after || before->finished) return;
  before->successors.push_back(after);
  ++after->num_predecessors;
}

// Adds a reader. If the list is full, first drops the finished readers and reserves room for twice
// as many readers as remain. So adding a reader takes constant time on average.
void add_reader(std::vector<std::shared_ptr<DependencyNode>>& readers,
                const std::shared_ptr<DependencyNode>& reader) {
  if (readers.size() == readers.capacity()) {
    std::erase_if(readers, [](const auto& other) { return other->finished; });
    readers.reserve(2 * readers.size() + 1);
  }
  readers.push_back(reader);
}

}  // namespace

void DependencyTracker::split(Address at) {
  auto next = segments_.upper_bound(at);
  if (next == segments_.begin()) return;
  auto segment = std::prev(next);
  if (segment->first == at || segment->second.end <= at) return;
  Segment right = segment->second;
  segment->second.end = at;
  segments_.emplace(at, std::move(right));
}

// Records that a task writes a range: it depends on the earlier readers and writers of this range.
// Replaces the segments inside the range by a single one.
void DependencyTracker::write(Address begin, Address end,
                              const std::shared_ptr<DependencyNode>& node) {
  split(begin);
  split(end);
  const auto first = segments_.lower_bound(begin), last = segments_.lower_bound(end);
  for (auto segment = first; segment != last; ++segment) {
    add_edge(segment->second.writer, node);
    for (const auto& reader : segment->second.readers) add_edge(reader, node);
  }
  segments_.erase(first, last);
  segments_.emplace(begin, Segment{end, node, {}});
}

void DependencyTracker::read(Address begin, Address end,
                             const std::shared_ptr<DependencyNode>& node) {
  split(begin);
  split(end);
  for (Address at = begin; at < end;) {
    auto next = segments_.lower_bound(at);
    if (next == segments_.end() || next->first > at) {  // a gap that no task has accessed yet
      const Address gap_end = next == segments_.end() ? end : std::min(end, next->first);
      next = segments_.emplace(at, Segment{gap_end, nullptr, {}}).first;
    }
    Segment& segment = next->second;
    add_edge(segment.writer, node);
    add_reader(segment.readers, node);
    at = segment.end;
  }
}

std::unique_ptr<Task> DependencyTracker::add(std::unique_ptr<Task> task) {
  const auto node = std::make_shared<DependencyNode>();
  task->extras.make().ordered = node;
  ++unfinished_;
  for (const bool writes : {false, true})
    for (const Item& item : task->items) {
      if (item.mode == Mode::literal || !item.data || item.bytes == 0) continue;
      if (item.comes_back() != writes) continue;
      const auto begin = reinterpret_cast<Address>(item.data);
      writes ? write(begin, begin + item.bytes, node) : read(begin, begin + item.bytes, node);
    }
  if (node->num_predecessors == 0) return task;
  task->enter(TaskState::blocked);
  node->task = std::move(task);
  return nullptr;
}

std::vector<std::unique_ptr<Task>> DependencyTracker::finish(DependencyNode& done) {
  done.finished = true;
  std::vector<std::unique_ptr<Task>> ready;
  for (const auto& successor : done.successors)
    if (--successor->num_predecessors == 0) ready.push_back(std::move(successor->task));
  done.successors.clear();
  if (--unfinished_ == 0) segments_.clear();
  return ready;
}

}  // namespace poise::tasks
