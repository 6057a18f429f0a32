// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/communicator.h"

#include <gmock/gmock.h>

#include "poise/base/random.h"
#include "poise/distributed/simulated_testing.h"

namespace poise {
namespace {

TEST(Communicator, negative_zero_counts_as_zero_in_the_maximum_and_in_the_sum_over_ranks) {
  SimulatedRanks simulated(3);
  simulated.run([](const poise_communication& table) {
    Communicator ranks(table);
    const double values[] = {-0.0, 1.0, 2.0};
    EXPECT_EQ(ranks.max(values[table.rank]), 2);
    EXPECT_NEAR(ranks.sum(values[table.rank]), 3, 1e-9);
  });
}

TEST(Communicator, sums_of_many_values_are_exact_up_to_rounding_and_the_same_on_all_ranks) {
  constexpr std::uint32_t kRanks = 5;
  constexpr std::size_t kValues = 40;
  std::vector<std::vector<double>> given(kRanks), found(kRanks);
  std::vector<double> expected(kValues);
  Random random(3);
  for (std::vector<double>& values : given)
    for (std::size_t i = 0; i < kValues; ++i) {
      values.push_back(i < 2 ? 0 : random.uniform() * 1000);
      expected[i] += values.back();
    }
  SimulatedRanks(kRanks).run([&](const poise_communication& table) {
    Communicator ranks(table);
    EXPECT_EQ(ranks.rank(), table.rank);
    EXPECT_EQ(ranks.num_ranks(), kRanks);
    found[table.rank] = given[table.rank];
    ranks.sum(found[table.rank]);
    std::vector<double> zeros(3), nothing;
    ranks.sum(zeros);
    EXPECT_EQ(zeros, std::vector<double>(3));
    ranks.sum(nothing);
    EXPECT_TRUE(nothing.empty());
    EXPECT_EQ(ranks.max(std::uint64_t{10} + table.rank), 14u);
    EXPECT_EQ(ranks.sum(std::uint64_t{10} + table.rank), 60u);
    EXPECT_EQ(ranks.max(0x1p-1000 * (1 + table.rank)), 5 * 0x1p-1000);
    EXPECT_NEAR(ranks.sum(0.1 * table.rank), 1, 1e-11);
  });
  for (const std::vector<double>& sums : found) {
    EXPECT_EQ(sums, found[0]);
    for (std::size_t i = 0; i < kValues; ++i)
      EXPECT_NEAR(sums[i], expected[i], kRanks * 1000 * 0x1p-40);
  }
}

TEST(Communicator, every_rank_receives_the_items_that_all_ranks_sent_to_it) {
  SimulatedRanks(4).run([&](const poise_communication& table) {
    Communicator ranks(table);
    Mail<std::uint32_t> mail;
    for (std::uint32_t to = 0; to < 4; ++to)
      for (std::uint32_t i = 0; i < (table.rank + to) % 3; ++i)
        mail[to].push_back(100 * table.rank + 10 * to + i);
    const Mail<std::uint32_t> received = ranks.exchange(mail);
    for (std::uint32_t from = 0; from < 4; ++from) {
      if ((from + table.rank) % 3 == 0) {
        EXPECT_FALSE(received.contains(from));
        EXPECT_THROW(items_from(received, from), MissingMessage);
        continue;
      }
      std::vector<std::uint32_t> expected;
      for (std::uint32_t i = 0; i < (from + table.rank) % 3; ++i)
        expected.push_back(100 * from + 10 * table.rank + i);
      EXPECT_EQ(items_from(received, from), expected);
    }
  });
}

TEST(Communicator, errors_name_the_rank_that_failed_and_not_a_rank_that_only_misses_a_message) {
  std::vector<std::string> told(4);
  SimulatedRanks(4).run([&](const poise_communication& table) {
    Communicator ranks(table);
    try {
      agreed(ranks, [&] {
        if (table.rank == 1) throw Error("the cause");
        if (table.rank == 3) throw MissingMessage("no message");
        ranks.agree();
      });
    } catch (const Error& error) {
      told[table.rank] = error.what();
    }
  });
  EXPECT_EQ(told[1], "the cause");
  for (const int other : {0, 2, 3}) EXPECT_EQ(told[other], "rank 1 failed; its own error says why");
}

TEST(Communicator,
     if_no_rank_has_failed_every_rank_that_misses_a_message_reports_the_missing_message) {
  std::vector<std::string> told(3);
  SimulatedRanks(3).run([&](const poise_communication& table) {
    Communicator ranks(table);
    try {
      agreed(ranks, [&] {
        if (table.rank < 2) throw MissingMessage("no message");
        ranks.agree();
      });
    } catch (const Error& error) {
      told[table.rank] = error.what();
    }
  });
  EXPECT_EQ(told[0], "no message");
  EXPECT_EQ(told[1], "no message");
  EXPECT_EQ(told[2], "rank 1 failed; its own error says why");
}

TEST(Communicator, refuses_a_table_that_lacks_a_function_or_names_a_rank_that_does_not_exist) {
  SimulatedRanks(1).run([](const poise_communication& good) {
    EXPECT_NO_THROW(Communicator{good});
    for (const int wrong : {0, 1, 2}) {
      poise_communication table = good;
      if (wrong == 0) table.exchange = nullptr;
      if (wrong == 1) table.reduce = nullptr;
      if (wrong == 2) table.rank = 1;
      EXPECT_THROW(Communicator{table}, Error);
    }
  });
}

}  // namespace
}  // namespace poise
