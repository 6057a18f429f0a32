// SPDX-License-Identifier: BSD-3-Clause
// Migrates an object of more than 2 GiB, although MPI counts in int. Needs 10 GiB of memory, and is
// skipped if less is free.
#include <fstream>
#include <gtest/gtest.h>
#include <string>

#include "runtimes/objects/collection.h"
#include "runtimes/objects/collectives.h"

namespace poise::objects {
namespace {

// The size of the object in 64-bit words: slightly more than 2 GiB.
constexpr std::size_t kWords = (std::size_t{1} << 28) + 3;
constexpr double kNeededKilobytes = 10e6;

double free_kilobytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string key, rest; file >> key && std::getline(file, rest);)
    if (key == "MemAvailable:") return std::stod(rest);
  return 0;
}

struct Huge {
  std::vector<std::uint64_t> words;
  void step(const Inbox&, Outbox&) {}
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(words);
  }
};

TEST(Collection, an_object_of_more_than_2_GiB_migrates) {
  double free = -free_kilobytes();
  max_over_ranks(MPI_COMM_WORLD, {&free, 1});
  if (-free < kNeededKilobytes) GTEST_SKIP() << "10 GiB of memory are not free";
  const auto make = [](ObjectId id) {
    Huge huge{std::vector<std::uint64_t>(id == 0 ? kWords : 1)};
    for (std::size_t i = 0; i < huge.words.size(); i += 512) huge.words[i] = i + 1;
    huge.words.back() = 42;
    return huge;
  };
  Collection<Huge> objects(MPI_COMM_WORLD, 2, make, {.strategy = "rotate"});
  ASSERT_EQ(objects.rank_of(0), 0);
  objects.step();
  const BalanceResult balanced = objects.balance();
  EXPECT_EQ(objects.rank_of(0), 1);
  EXPECT_GT(balanced.migrated_bytes, std::uint64_t{1} << 31);
  objects.for_each([&](ObjectId id, const Huge& huge) {
    ASSERT_EQ(huge.words.size(), id == 0 ? kWords : 1);
    EXPECT_EQ(huge.words.back(), 42u);
    for (std::size_t i = 0; i + 1 < huge.words.size(); i += 512) ASSERT_EQ(huge.words[i], i + 1);
  });
}

}  // namespace
}  // namespace poise::objects
