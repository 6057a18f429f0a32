// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/profile_file.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "poise/base/error.h"

namespace poise::profile {
namespace {

RankProfile example(std::uint32_t rank) {
  Phase phase{.label = 3, .begin_ns = -5, .end_ns = 1'000'000'000'000};
  phase.totals.useful_ns = 77;
  phase.totals.useful_queued_ns = 44;
  phase.totals.mpi_ns = {1, 2, 3, 4, 5};
  phase.totals.calls = {6, 7, 8, 9, 10};
  phase.totals.not_understood = 11;
  phase.totals.outside_messages = 12;
  phase.useful_cpu_ns = 66;
  phase.queued_ns = 55;
  phase.peak_bytes = std::uint64_t{1} << 40;
  phase.cpu = -1;
  phase.traffic = {{1, false, 2, std::uint64_t{1} << 35}, {0, true, 1, 0}};
  phase.waiting[0] = {
      .samples = 4, .sampled_ns = 12, .waited_ns = 9, .wait_squares = 0.25, .for_whom = {{1, 8}}};
  phase.waiting[1] = {.samples = 1, .for_receiver_ns = -3, .time_squares = 2, .products = 3};
  phase.totals.may_wait_calls[1] = 77;
  return {.rank = rank,
          .num_ranks = 2,
          .host = "node7",
          .cuts = Cuts::pcontrol,
          .reorderings = {.calls = 3, .reordered = 2, .deciding_ns = 7, .before = 1.5, .after = 1},
          .phases = {phase, {}},
          .names = {{3, "assembly"}},
          .team = {.watched_ns = 900, .cpus = {0, 5}, .threads = {{40, 2, 9, -1}, {30, 0, 1, 5}}},
          .cpus = {.all_ns = 700, .own_ns = 70, .quota_cpus = 2.5, .stopped_ns = 9}};
}

TEST(profile_file, a_profile_is_unchanged_after_writing_and_reading) {
  const std::string bytes = std::string(kMagic) + encode(example(1)) + encode(example(0));
  const std::vector<RankProfile> ranks = decode("x", bytes);
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_EQ(ranks[0].rank, 0u);
  EXPECT_EQ(encode(ranks[0]), encode(example(0)));
  EXPECT_EQ(encode(ranks[1]), encode(example(1)));
  EXPECT_EQ(ranks[1].host, "node7");
  EXPECT_EQ(ranks[1].reorderings.before, 1.5);
  EXPECT_EQ(ranks[1].phases[0].traffic[0].bytes, std::uint64_t{1} << 35);
  EXPECT_EQ(ranks[1].phases[0].waiting[0].wait_squares, 0.25);
  EXPECT_EQ(ranks[1].phases[0].waiting[1].for_receiver_ns, -3);
  EXPECT_EQ(ranks[1].phases[0].totals.may_wait_calls[1], 77u);
  EXPECT_EQ(ranks[1].names.at(3), "assembly");
  EXPECT_EQ(ranks[1].team.cpus, (std::vector<std::int32_t>{0, 5}));
  EXPECT_EQ(ranks[1].team.threads[1].only_cpu, 5);
  EXPECT_EQ(ranks[1].cpus.all_ns, 700);
  EXPECT_EQ(ranks[1].cpus.own_ns, 70);
  EXPECT_EQ(ranks[1].cpus.quota_cpus, 2.5);
  EXPECT_EQ(ranks[1].cpus.stopped_ns, 9);
  EXPECT_EQ(ranks[1].phases[0].totals.useful_queued_ns, 44);
}

/// The phases are empty, like those that whole() adds for a rank that died before it wrote
/// anything.
TEST(profile_file, reads_a_rank_that_recorded_nothing_in_any_phase) {
  RankProfile nothing;
  nothing.num_ranks = 2;
  nothing.phases.resize(100);
  const std::vector<RankProfile> ranks = decode("x", std::string(kMagic) + encode(nothing));
  ASSERT_EQ(ranks.size(), 1u);
  EXPECT_EQ(ranks[0].phases.size(), 100u);
}

/// The bytes of a block in the older file format, which stores no reorderings.
std::string without_reorderings(const RankProfile& profile) {
  RankProfile none = profile, some = profile;
  none.reorderings = {};
  some.reorderings = {.calls = 1};
  const std::string a = encode(none), b = encode(some);
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  std::string bytes = a.substr(0, at) + a.substr(at + 5);
  // Stores the new size at the beginning of the block: two bytes with seven bits each.
  const std::size_t size = bytes.size() - 2;
  bytes[0] = static_cast<char>(size | 0x80);
  bytes[1] = static_cast<char>(size >> 7);
  return bytes;
}

TEST(profile_file, reads_files_of_format_version_2_which_stores_no_reordering_of_ranks) {
  const std::vector<RankProfile> ranks =
      decode("x", "POISE PROFILE 2\n" + without_reorderings(example(1)));
  ASSERT_EQ(ranks.size(), 1u);
  RankProfile expected = example(1);
  expected.reorderings = {};
  expected.team = {};
  expected.cpus = {};
  expected.phases[0].totals.useful_queued_ns = expected.phases[0].queued_ns;
  EXPECT_EQ(encode(ranks[0]), encode(expected));
}

TEST(profile_file, reads_files_of_format_version_3_which_stores_no_data_about_threads) {
  const std::vector<RankProfile> ranks = decode("x", "POISE PROFILE 3\n" + encode(example(1)));
  ASSERT_EQ(ranks.size(), 1u);
  EXPECT_EQ(ranks[0].reorderings.before, 1.5);
  EXPECT_TRUE(ranks[0].team.threads.empty());
  EXPECT_EQ(ranks[0].cpus.all_ns, -1);
}

/// The bytes of the example without its last `count` numbers, which an older file format lacks. The
/// last two numbers belong to the two phases; the numbers before them are about cpus. All of these
/// numbers are 0, so each takes one byte.
std::string without_last_numbers(std::size_t count) {
  RankProfile profile = example(1);
  profile.phases[0].totals.useful_queued_ns = 0;
  profile.cpus = {.all_ns = 0, .own_ns = 0};
  std::string block = encode(profile);
  block.resize(block.size() - count);
  block[0] = static_cast<char>(block[0] - count);
  return block;
}

TEST(profile_file, reads_files_of_format_version_4_which_stores_no_cpu_time_of_other_programs) {
  const auto ranks = decode("x", "POISE PROFILE 4\n" + without_last_numbers(6));
  ASSERT_EQ(ranks.size(), 1u);
  EXPECT_EQ(ranks[0].team.threads[1].only_cpu, 5);
  EXPECT_EQ(ranks[0].cpus.all_ns, -1);
}

TEST(profile_file, reads_files_of_format_version_5_which_stores_no_cpu_quota) {
  const auto ranks = decode("x", "POISE PROFILE 5\n" + without_last_numbers(4));
  ASSERT_EQ(ranks.size(), 1u);
  EXPECT_EQ(ranks[0].cpus.all_ns, 0);
  EXPECT_EQ(ranks[0].cpus.quota_cpus, 0);
}

TEST(profile_file,
     reads_files_of_format_version_6_and_counts_all_queueing_for_cpus_as_time_outside_mpi) {
  const auto ranks = decode("x", "POISE PROFILE 6\n" + without_last_numbers(2));
  ASSERT_EQ(ranks.size(), 1u);
  EXPECT_EQ(ranks[0].phases[0].totals.useful_queued_ns, 55);
}

TEST(profile_file, the_work_of_openmp_threads_is_stored_only_if_it_is_known) {
  RankProfile profile = example(1);
  const std::size_t size = encode(profile).size();
  profile.omp_work_ns = {5, 1'000'000'000'000};
  const std::string bytes = encode(profile);
  EXPECT_GT(bytes.size(), size);
  EXPECT_EQ(decode("x", std::string(kMagic) + bytes)[0].omp_work_ns, profile.omp_work_ns);
  EXPECT_TRUE(decode("x", std::string(kMagic) + encode(example(1)))[0].omp_work_ns.empty());
}

TEST(profile_file, an_incomplete_block_at_the_end_is_ignored) {
  const std::string first = std::string(kMagic) + encode(example(0));
  const std::string whole = first + encode(example(1));
  for (std::size_t size = first.size(); size < whole.size(); ++size)
    EXPECT_EQ(decode("x", whole.substr(0, size)).size(), 1u);
}

TEST(profile_file, refuses_damaged_files_and_files_of_other_formats) {
  for (const std::string start : {"no profile", "POISE PROFILE 1\n", "POISE PROFILE 8\n",
                                  "POISE PROFILE x\n", "POISE PROFILE 7 ", "POISE"})
    EXPECT_THROW(decode("x", start), Error) << start;
  std::string bytes = std::string(kMagic) + encode(example(0));
  for (std::size_t i = kMagic.size(); i < bytes.size(); ++i) {  // decode() must not crash
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0xff);
    try {
      decode("x", damaged);
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace poise::profile
