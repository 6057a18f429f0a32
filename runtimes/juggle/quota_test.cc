#include "runtimes/juggle/quota.h"

#include <gmock/gmock.h>

namespace poise::juggle {
namespace {

TEST(Quota, is_said_in_cpus) {
  EXPECT_EQ(parse_cpu_max("150000 100000\n"), 1.5);
  for (const char* text : {"max 100000\n", "", "1", "0 1", "1 0", "a b"})
    EXPECT_FALSE(parse_cpu_max(text)) << text;
}

TEST(Quota, is_that_of_the_unified_hierarchy) {
  EXPECT_EQ(parse_cgroup_path("9:name=systemd:/a\n0::/user/b\n"), "/user/b");
  EXPECT_EQ(parse_cgroup_path("0::/\n"), "/");
  EXPECT_FALSE(parse_cgroup_path("9:cpu:/a\n"));
}

TEST(Quota, here_is_a_number_of_cpus_if_any) {
  const auto quota = quota_cpus();
  EXPECT_TRUE(!quota || *quota > 0);
}

}  // namespace
}  // namespace poise::juggle
