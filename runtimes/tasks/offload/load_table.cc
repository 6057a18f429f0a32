// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/offload/load_table.h"

#include <bit>

namespace poise::tasks {

void LoadTable::Entry::write(const Load& load) {
  const auto words = std::bit_cast<Words>(load);
  const std::uint32_t changes = changes_.load(std::memory_order_relaxed);
  changes_.store(changes + 1, std::memory_order_relaxed);
  for (std::size_t i = 0; i < words.size(); ++i)
    words_[i].store(words[i], std::memory_order_release);
  changes_.store(changes + 2, std::memory_order_release);
}

std::optional<Load> LoadTable::Entry::read() const {
  Words words;
  const std::uint32_t before = changes_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = words_[i].load(std::memory_order_acquire);
  const std::uint32_t after = changes_.load(std::memory_order_relaxed);
  if (before == 0 || before % 2 != 0 || before != after) return std::nullopt;
  return std::bit_cast<Load>(words);
}

}  // namespace poise::tasks
