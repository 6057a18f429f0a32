// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/cpus.h"

#include <cerrno>
#include <gmock/gmock.h>
#include <vector>

#include "poise/base/error.h"

namespace poise::juggle {
namespace {

using testing::ElementsAre;

TEST(Cpus, lists_of_cpus_are_read_and_written_in_the_format_that_linux_uses) {
  EXPECT_THAT(parse_cpu_list("0-3,8"), ElementsAre(0, 1, 2, 3, 8));
  EXPECT_THAT(parse_cpu_list("8,0-1,1"), ElementsAre(0, 1, 8));
  EXPECT_EQ(cpu_list_text({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(cpu_list_text({5}), "5");
  EXPECT_EQ(cpu_list_text({}), "");
}

TEST(Cpus, throws_for_text_that_is_not_a_list_of_cpus) {
  for (const char* text : {"", "a", "3-1", "0-1-2", "-", "1,,2", "65536", "0-99999999", "1-"})
    EXPECT_THROW(parse_cpu_list(text), Error) << text;
}

TEST(Cpus, a_list_is_unchanged_after_conversion_to_a_cpu_set_and_back) {
  const Cpus cpus = {1, 63, 64, 1023, 1024, 8191};
  const CpuSet set(cpus);
  EXPECT_EQ(set.cpus(), cpus);
  EXPECT_EQ(set.count(), 6u);
  EXPECT_TRUE(set.has(1024));
  EXPECT_FALSE(set.has(1025));
  EXPECT_FALSE(set.has(kMaxCpus));
  EXPECT_EQ(CpuSet({2}), CpuSet::of_words({4, 0, 0})) << "zeros at the end count";
  EXPECT_NE(CpuSet({2}), CpuSet({2, 200}));
  EXPECT_THAT(common_cpus({0, 2, 3}, {2, 3, 4}), ElementsAre(2, 3));
}

/// Simulates sched_getaffinity() of a kernel for 8,192 cpus, which refuses shorter masks. The
/// thread may use only the last cpu.
int affinity_of_8192_cpus(pid_t, std::size_t bytes, cpu_set_t* mask) {
  errno = EINVAL;
  if (bytes < 1024) return -1;
  CPU_SET_S(8191, bytes, mask);
  return 0;
}

int never(pid_t, std::size_t, cpu_set_t*) {
  errno = EINVAL;
  return -1;
}

TEST(Cpus, a_kernel_with_more_than_1024_cpus_is_queried_with_a_larger_mask) {
  CpuSet set;
  ASSERT_TRUE(get_affinity(0, set, affinity_of_8192_cpus));
  EXPECT_THAT(set.cpus(), ElementsAre(8191));
  EXPECT_FALSE(get_affinity(0, set, never)) << "it must give up";
}

TEST(Cpus, the_list_of_cpus_without_clock_ticks_is_empty_if_the_kernel_prints_nothing_or_null) {
  EXPECT_THAT(parse_tickless("1-2,5"), ElementsAre(1, 2, 5));
  for (const char* none : {"", "(null)", " (null)"}) EXPECT_TRUE(parse_tickless(none).empty());
}

TEST(Cpus, the_cpus_of_this_host_have_memory_domains_and_speeds) {
  const Cpus cpus = allowed_cpus();
  ASSERT_FALSE(cpus.empty());
  const auto domains = domains_of(cpus);
  EXPECT_EQ(domains.size(), cpus.size());
  EXPECT_EQ(domains.front(), 0u);
  for (const double speed : speeds_of(cpus)) {
    EXPECT_GT(speed, 0);
    EXPECT_LE(speed, 1);
  }
}

TEST(Cpus, each_cpu_has_the_speed_of_its_core_type) {
  MachineParts parts;
  parts.places = {{0, 1, 0}, {0, 1, 2}, {0, 0.5, 4}, {0, 0.25, 5}};
  parts.levels = {{.name = "core", .first_place = {0, 1, 2, 3, 4}}};
  parts.kind_of_node = {0};
  const Machine machine{std::move(parts)};
  EXPECT_THAT(speeds_in(machine, {0, 0, 2, 4, 5}), ElementsAre(1, 1, 1, 0.5, 0.25));
  EXPECT_THAT(speeds_in(machine, {4, 5}), ElementsAre(1, 0.5));
}

}  // namespace
}  // namespace poise::juggle
