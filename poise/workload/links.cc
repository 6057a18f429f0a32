// SPDX-License-Identifier: BSD-3-Clause

#include "poise/workload/links.h"

#include <algorithm>
#include <numeric>

namespace poise {

namespace {

/// Prepares `first` for filling the rows. Before the call, first[t + 2] is the number of entries of
/// row t. After the call, first[t + 1] is the index at which row t starts. The caller increments
/// first[t + 1] for each entry that it stores in row t, so finally first[t + 1] is the start of row
/// t + 1.
void counts_to_cursors(std::vector<std::size_t>& first) {
  std::partial_sum(first.begin(), first.end(), first.begin());
}

}  // namespace

/// Makes one row per task. `row_end` and `link_end` are the two ends of a message, its sender and
/// receiver or the reverse. Row t holds the messages that have task t at the end `row_end`; each
/// entry names the task at the other end.
Links Links::by(TaskId Message::*row_end, TaskId Message::*link_end, const Workload& workload) {
  Links rows;
  rows.first_.assign(workload.tasks.size() + 2, 0);
  for (const Message& message : workload.messages)
    if (message.from != message.to) ++rows.first_[message.*row_end + 2];
  counts_to_cursors(rows.first_);
  rows.links_.resize(rows.first_.back());
  for (const Message& message : workload.messages)
    if (message.from != message.to)
      rows.links_[rows.first_[message.*row_end + 1]++] = {message.*link_end, message.count,
                                                          message.bytes};
  rows.first_.pop_back();
  return rows;
}

Links received(const Workload& workload) {
  return Links::by(&Message::to, &Message::from, workload);
}

Links sent(const Workload& workload) { return Links::by(&Message::from, &Message::to, workload); }

Links neighbours(const Workload& workload) {
  Links rows;
  rows.first_.assign(workload.tasks.size() + 2, 0);
  for (const Message& message : workload.messages) {
    if (message.from == message.to) continue;
    ++rows.first_[message.from + 2];
    ++rows.first_[message.to + 2];
  }
  counts_to_cursors(rows.first_);
  rows.links_.resize(rows.first_.back());
  for (const Message& message : workload.messages) {
    if (message.from == message.to) continue;
    rows.links_[rows.first_[message.from + 1]++] = {message.to, message.count, message.bytes};
    rows.links_[rows.first_[message.to + 1]++] = {message.from, message.count, message.bytes};
  }
  rows.first_.pop_back();

  // In each row, merges the entries that name the same task. Entries move towards the front of the
  // array to close the gaps.
  std::size_t kept = 0;
  for (std::size_t t = 0; t + 1 < rows.first_.size(); ++t) {
    const auto begin = rows.links_.begin() + rows.first_[t];
    const auto end = rows.links_.begin() + rows.first_[t + 1];
    std::sort(begin, end, [](const Link& a, const Link& b) { return a.task < b.task; });
    const std::size_t row = kept;
    for (auto link = begin; link != end; ++link) {
      if (kept > row && rows.links_[kept - 1].task == link->task) {
        rows.links_[kept - 1].count += link->count;
        rows.links_[kept - 1].bytes += link->bytes;
      } else {
        rows.links_[kept++] = *link;
      }
    }
    rows.first_[t] = row;
  }
  rows.first_.back() = kept;
  rows.links_.resize(kept);
  return rows;
}

}  // namespace poise
