// SPDX-License-Identifier: BSD-3-Clause

#include "poise/workload/heaviest_first.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

namespace poise {

namespace {

constexpr int kDigitBits = 11, kDigits = 3;
constexpr std::uint32_t kDigitMask = (1u << kDigitBits) - 1;

struct Item {
  std::uint32_t key;
  TaskId task;
};

/// Returns an integer that increases with the load: for doubles >= 0, the order of the bit patterns
/// is the order of the values.
std::uint64_t bits_of(double load_s) { return std::bit_cast<std::uint64_t>(load_s + 0.0); }

/// The sort key of a task is the difference between the heaviest load and its load, both as 64-bit
/// integers. The difference is shifted right so that the largest one fits in 32 bits.
std::vector<Item> items_of(std::span<const Task> tasks) {
  std::vector<Item> items;
  std::uint64_t least = ~std::uint64_t{0}, most = 0;
  for (const Task& task : tasks) {
    if (!task.movable) continue;
    least = std::min(least, bits_of(task.load_s));
    most = std::max(most, bits_of(task.load_s));
  }
  if (least > most) return items;
  const int shift = std::max(0, 32 - std::countl_zero(most - least));
  items.reserve(tasks.size());
  for (TaskId t = 0; t < tasks.size(); ++t)
    if (tasks[t].movable) items.emplace_back((most - bits_of(tasks[t].load_s)) >> shift, t);
  return items;
}

/// Sorts by key, stably: a radix sort, lowest digit first, that skips each digit that is the same
/// in all keys.
void radix_sort(std::vector<Item>& items) {
  std::array<std::array<std::uint32_t, kDigitMask + 1>, kDigits> start{};
  for (const Item& item : items)
    for (int d = 0; d < kDigits; ++d) ++start[d][(item.key >> (d * kDigitBits)) & kDigitMask];
  std::vector<Item> sorted(items.size());
  for (int d = 0; d < kDigits; ++d) {
    const int shift = d * kDigitBits;
    if (items.empty() || start[d][(items[0].key >> shift) & kDigitMask] == items.size()) continue;
    std::uint32_t sum = 0;
    for (std::uint32_t& count : start[d]) sum += std::exchange(count, sum);
    for (const Item& item : items) sorted[start[d][(item.key >> shift) & kDigitMask]++] = item;
    items.swap(sorted);
  }
}

/// Sorts tasks with equal keys by their loads.
void sort_ties(std::span<const Task> tasks, std::vector<Item>& items) {
  const auto is_heavier = [&](const Item& a, const Item& b) {
    return tasks[a.task].load_s > tasks[b.task].load_s;
  };
  for (auto begin = items.begin(); begin != items.end();) {
    const auto end = std::find_if(begin + 1, items.end(),
                                  [&](const Item& item) { return item.key != begin->key; });
    if (end - begin > 1 && !std::is_sorted(begin, end, is_heavier))
      std::stable_sort(begin, end, is_heavier);
    begin = end;
  }
}

}  // namespace

std::vector<LoadedTask> heaviest_first(std::span<const Task> tasks) {
  std::vector<Item> items = items_of(tasks);
  radix_sort(items);
  sort_ties(tasks, items);
  std::vector<LoadedTask> order(items.size());
  for (std::size_t i = 0; i < items.size(); ++i)
    order[i] = {items[i].task, tasks[items[i].task].load_s};
  return order;
}

}  // namespace poise
