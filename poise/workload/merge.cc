// SPDX-License-Identifier: BSD-3-Clause

#include "poise/workload/merge.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace poise {

namespace {

/// Merges the messages with indices from `begin` to `end` - 1 that have the same receiver. These
/// messages all have the same sender and are sorted by receiver. Stores the merged messages in
/// `sorted`, starting at index `kept`, which must be at most `begin`. Returns the index after the
/// last one stored.
std::size_t merge_row(std::vector<Message>& sorted, std::size_t begin, std::size_t end,
                      std::size_t kept) {
  const std::size_t row = kept;
  for (std::size_t m = begin; m < end; ++m) {
    if (kept > row && sorted[kept - 1].to == sorted[m].to) {
      sorted[kept - 1].count += sorted[m].count;
      sorted[kept - 1].bytes += sorted[m].bytes;
    } else {
      sorted[kept++] = sorted[m];
    }
  }
  return kept;
}

}  // namespace

std::vector<Message> merged(TaskId num_tasks, const std::vector<Message>& messages) {
  // Counting sort by sender: next[t] is the index at which the next message of sender t will be
  // stored. After the sort, next[t] is the index after the last message of sender t.
  std::vector<std::size_t> next(std::size_t{num_tasks} + 1, 0);
  for (const Message& message : messages) ++next[message.from + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Message> sorted(messages.size());
  for (const Message& message : messages) sorted[next[message.from]++] = message;

  std::size_t begin = 0, kept = 0;
  for (TaskId t = 0; t < num_tasks; ++t) {
    const std::size_t end = next[t];
    std::sort(sorted.begin() + begin, sorted.begin() + end,
              [](const Message& a, const Message& b) { return a.to < b.to; });
    kept = merge_row(sorted, begin, end, kept);
    begin = end;
  }
  sorted.resize(kept);
  return sorted;
}

void merge_in_place(std::vector<Message>& messages) {
  std::sort(messages.begin(), messages.end(), [](const Message& a, const Message& b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  });
  std::size_t kept = 0;
  for (std::size_t begin = 0, end = 0; begin < messages.size(); begin = end) {
    while (end < messages.size() && messages[end].from == messages[begin].from) ++end;
    kept = merge_row(messages, begin, end, kept);
  }
  messages.resize(kept);
}

}  // namespace poise
