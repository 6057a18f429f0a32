// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/transport/copy.h"

#include <gtest/gtest.h>
#include <numeric>
#include <vector>

namespace poise::tasks {
namespace {

constexpr std::size_t kMargin = 80;

// Copies `bytes` bytes from offset `from` of a source to offset `to` of a target. Returns true if
// they arrive and no other byte of the target is written.
bool copies(std::size_t from, std::size_t to, std::size_t bytes) {
  std::vector<unsigned char> source(from + bytes + 1), target(to + bytes + kMargin, 0xee);
  std::iota(source.begin(), source.end(), std::uint8_t{1});
  std::vector<unsigned char> expected = target;
  std::copy_n(source.data() + from, bytes, expected.data() + to);
  copy_past_caches(target.data() + to, source.data() + from, bytes);
  return target == expected;
}

TEST(Copy, writes_exactly_the_given_bytes_at_any_alignment) {
  for (std::size_t from = 0; from <= 64; from += 7)
    for (std::size_t to = 0; to <= 64; ++to)
      for (const std::size_t bytes : {0u, 1u, 15u, 63u, 64u, 65u, 127u, 1000u, 8192u, 20001u})
        EXPECT_TRUE(copies(from, to, bytes)) << from << " to " << to << ": " << bytes;
}

}  // namespace
}  // namespace poise::tasks
