// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/last_arrivals.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <optional>

#include "tests/support/seeds.h"

#include "poise/base/random.h"

namespace poise::profile {
namespace {

/// What one rank stores about a communicator. `members` lists the ranks of the communicator as
/// ranks of MPI_COMM_WORLD; `rank` is the storing rank's number in the communicator.
Sampled member(std::uint64_t id, const std::vector<int>& members, int rank) {
  const auto size = static_cast<int>(members.size());
  const auto world_rank = [&](int r) { return r >= 0 && r < size ? members[r] : -1; };
  Sampled sampled{.id = id, .rank = rank, .size = size, .own_world_rank = members[rank]};
  for (int step = 1; step < size; step *= 2) {
    sampled.before.push_back(world_rank(rank - step));
    sampled.after.push_back(world_rank(rank + step));
  }
  return sampled;
}

/// The ranks of MPI_COMM_WORLD, whose reports are delivered immediately.
class World {
 public:
  explicit World(int ranks) : sampled_(ranks) {}

  /// Adds what a rank knows of a communicator.
  void add(Sampled sampled) {
    const int rank = sampled.own_world_rank;
    sampled_[rank].push_back(std::make_unique<Sampled>(std::move(sampled)));
  }

  std::vector<std::vector<Wait>> waits() {
    std::vector<LastArrivals> ranks;
    int rounds = 0;
    for (auto& sampled : sampled_) {
      ranks.emplace_back(std::move(sampled), CommonClock());
      rounds = std::max(rounds, ranks.back().num_rounds());
    }
    for (int round = 0; round < rounds; ++round) {
      std::vector<std::map<int, std::string>> all;
      for (LastArrivals& rank : ranks) all.push_back(rank.reports_up(round));
      for (const auto& reports : all)
        for (const auto& [to, report] : reports) ranks.at(to).read_up(report);
    }
    for (int round = rounds - 1; round >= 0; --round) {
      std::vector<std::map<int, std::string>> all;
      for (LastArrivals& rank : ranks) all.push_back(rank.reports_down(round));
      for (const auto& reports : all)
        for (const auto& [to, report] : reports) ranks.at(to).read_down(report);
    }
    std::vector<std::vector<Wait>> result;
    for (const LastArrivals& rank : ranks) result.push_back(rank.waits());
    return result;
  }

 private:
  std::vector<std::vector<std::unique_ptr<Sampled>>> sampled_;
};

// Random communicators with random samples. The oracle looks at the samples of all ranks together.
TEST(last_arrivals,
     a_rank_waits_in_a_collective_until_the_last_rank_whose_data_it_needs_has_entered) {
  for (std::uint64_t seed = 1; seed <= num_seeds(200); ++seed) {
    Random random(seed);
    const auto num_ranks = static_cast<int>(1 + random.below(20));
    World world(num_ranks);
    std::vector<std::vector<std::pair<Sample, std::pair<std::int64_t, int>>>> expected(num_ranks);
    for (std::uint64_t id = 1; id <= 1 + random.below(4); ++id) {
      std::vector<int> members;
      for (int r = 0; r < num_ranks; ++r)
        if (random.below(3) > 0) members.push_back(r);
      if (members.size() < 2) continue;
      for (std::size_t i = members.size(); i > 1; --i)
        std::swap(members[i - 1], members[random.below(i)]);
      std::vector<Sampled> sampled;
      for (std::size_t r = 0; r < members.size(); ++r)
        sampled.push_back(member(id, members, static_cast<int>(r)));
      for (std::uint64_t left = 1 + random.below(5); left > 0; --left) {
        std::pair<std::int64_t, int> last{std::numeric_limits<std::int64_t>::min(), -1};
        const bool is_scan = random.below(3) == 0;
        for (Sampled& own : sampled) {
          // No two ranks enter at the same time, so exactly one rank is the last.
          const auto entered =
              static_cast<std::int64_t>(100 * random.below(1000)) + own.own_world_rank;
          const bool delays = own.rank == 0 || random.below(2) == 0;
          own.samples.push_back(
              {.entered_ns = entered,
               .took_ns = static_cast<std::int64_t>(random.below(50'000)),
               .part = {.delays = delays,
                        .waits = random.below(3) > 0 && (!is_scan || own.rank > 0),
                        .is_for_lower = is_scan}});
          // In MPI_Scan a rank waits only for ranks with lower numbers.
          if (is_scan) expected[own.own_world_rank].push_back({own.samples.back(), last});
          if (delays) last = std::max(last, {entered, own.own_world_rank});
        }
        if (is_scan) continue;
        for (const Sampled& own : sampled)
          expected[own.own_world_rank].push_back({own.samples.back(), last});
      }
      for (Sampled& own : sampled) world.add(std::move(own));
    }
    const auto waits = world.waits();
    for (int r = 0; r < num_ranks; ++r) {
      ASSERT_EQ(waits[r].size(), expected[r].size()) << "seed " << seed;
      for (std::size_t i = 0; i < waits[r].size(); ++i) {
        const auto& [sample, last] = expected[r][i];
        const std::int64_t waited = waited_ns(sample, last.first);
        EXPECT_EQ(waits[r][i].entered_ns, sample.entered_ns);
        EXPECT_EQ(waits[r][i].waited_ns, waited) << "seed " << seed;
        EXPECT_EQ(waits[r][i].for_whom, waited > 0 ? last.second : -1);
      }
    }
  }
}

TEST(last_arrivals, in_a_scan_a_rank_waits_only_for_lower_ranks) {
  World world(13);
  std::vector<int> members(13);
  std::iota(members.begin(), members.end(), 0);
  for (int r = 0; r < 13; ++r) {
    Sampled own = member(7, members, r);
    const std::int64_t late_ns = r == 5 ? 1000 : r == 9 ? 500 : r == 11 ? 2000 : 0;
    const Part part{.delays = true, .waits = r > 0, .is_for_lower = true};
    own.samples = {{.entered_ns = late_ns, .took_ns = 5000, .part = part},
                   {.sequence = 1,
                    .entered_ns = 9000 + late_ns,
                    .took_ns = 5000,
                    .part = {.delays = true, .waits = true}}};
    world.add(std::move(own));
  }
  const auto waits = world.waits();
  for (int r = 0; r < 13; ++r) {
    const std::int64_t for_scan = r == 12 ? 2000 : r == 9 ? 500 : r > 5 && r != 11 ? 1000 : 0;
    EXPECT_EQ(waits[r][0].waited_ns, for_scan) << "rank " << r;
    EXPECT_EQ(waits[r][0].for_whom, for_scan == 0 ? -1 : r == 12 ? 11 : 5);
    EXPECT_EQ(waits[r][1].waited_ns, r == 11 ? 0 : r == 5 ? 1000 : r == 9 ? 1500 : 2000);
    EXPECT_EQ(waits[r][1].for_whom, r == 11 ? -1 : 11);
  }
}

TEST(last_arrivals, no_wait_is_reported_if_ranks_have_samples_of_different_collectives) {
  const std::vector<int> members = {0, 1, 2};
  const Sample sample{.entered_ns = 5, .took_ns = 9, .part = {.delays = true, .waits = true}};
  World world(3);
  for (int r = 0; r < 3; ++r) {
    Sampled sampled = member(7, members, r);
    sampled.samples.assign(r == 1 ? 2 : 1, sample);  // a collective failed on ranks 0 and 2
    world.add(std::move(sampled));
    if (r == 2) continue;
    sampled = member(8, members, r);  // rank 2 has kept no samples of this communicator
    sampled.samples = {sample};
    world.add(std::move(sampled));
  }
  for (const auto& waits : world.waits()) EXPECT_TRUE(waits.empty());
}

TEST(last_arrivals,
     if_a_rank_leaves_a_collective_before_the_last_rank_enters_it_no_waiting_time_is_counted) {
  for (const bool may_overtake : {false, true}) {
    World world(3);
    for (int r = 0; r < 3; ++r) {
      Sampled own = member(7, {0, 1, 2}, r);
      const Part part{.delays = true, .waits = true, .may_overtake = may_overtake};
      const std::int64_t late_ns = r == 1 ? 1'000'000 : r;
      // In the second call rank 0 leaves before rank 1 enters.
      own.samples = {{.entered_ns = late_ns, .took_ns = 2'000'000, .part = part},
                     {.sequence = 1,
                      .entered_ns = 5'000'000 + late_ns,
                      .took_ns = r == 0 ? 900'000 : 2'000'000,
                      .part = part}};
      world.add(std::move(own));
    }
    const auto waits = world.waits();
    for (const int r : {0, 2}) {
      EXPECT_EQ(waits[r][0].waited_ns, 1'000'000 - r);
      EXPECT_EQ(waits[r][0].for_whom, 1);
      EXPECT_EQ(waits[r][1].waited_ns, may_overtake ? 0 : r == 0 ? 900'000 : 1'000'000 - r);
      EXPECT_EQ(waits[r][1].for_whom, may_overtake ? -1 : 1);
    }
  }
}

TEST(last_arrivals,
     time_in_MPI_Wait_counts_as_waiting_until_the_last_rank_has_begun_the_collective) {
  World world(3);
  for (int r = 0; r < 3; ++r) {
    Sampled own = member(7, {0, 1, 2}, r);
    const std::int64_t begun_ns = r == 1 ? 500 : 10 * r;
    for (const std::uint64_t sequence : {3, 8})
      own.samples.push_back({.sequence = sequence,
                             .entered_ns = begun_ns,
                             .took_ns = Sample::kUntimed,
                             .part = {.delays = true, .waits = true}});
    // Rank 1 only tests for completion, so it records no waits. Collective 9 has no sample, as if
    // its sample had been dropped.
    if (r != 1) own.completions = {{8, 200, 1000}, {3, 600, 1000}, {9, 700, 1000}};
    world.add(std::move(own));
  }
  const auto waits = world.waits();
  EXPECT_TRUE(waits[1].empty());
  for (const int r : {0, 2}) {
    ASSERT_EQ(waits[r].size(), 2u);
    EXPECT_EQ(waits[r][0].entered_ns, 200);
    EXPECT_EQ(waits[r][0].waited_ns, 300);
    EXPECT_EQ(waits[r][0].for_whom, 1);
    EXPECT_EQ(waits[r][0].what, WaitsFor::message);
    EXPECT_EQ(waits[r][1].waited_ns, 0);
    EXPECT_EQ(waits[r][1].for_whom, -1);
  }
}

TEST(last_arrivals, damaged_reports_from_other_ranks_are_ignored) {
  std::vector<std::unique_ptr<Sampled>> own;
  own.push_back(std::make_unique<Sampled>(member(7, {0, 1}, 0)));
  own.back()->samples = {{.entered_ns = 5, .took_ns = 9, .part = {.waits = true}}};
  std::vector<std::unique_ptr<Sampled>> others;
  others.push_back(std::make_unique<Sampled>(member(7, {0, 1}, 1)));
  others.back()->samples = {{.entered_ns = 8, .took_ns = 9, .part = {.delays = true}}};
  LastArrivals root(std::move(own), {}), leaf(std::move(others), {});
  const std::string report = leaf.reports_up(0).at(0);
  for (std::size_t size = 0; size < report.size(); ++size) root.read_up(report.substr(0, size));
  root.read_up(std::string(100, '\xff'));
  EXPECT_TRUE(root.waits().empty());
  root.read_up(report);
  ASSERT_EQ(root.waits().size(), 1u);
  EXPECT_EQ(root.waits()[0].waited_ns, 3);
  EXPECT_EQ(root.waits()[0].for_whom, 1);
}

}  // namespace
}  // namespace poise::profile
