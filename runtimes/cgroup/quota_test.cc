// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/cgroup/quota.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <string>

#include "tests/support/test_folder.h"

namespace poise::cgroup {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kMounts =
    "24 23 0:21 / /proc rw - proc proc rw\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
    "34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
    "45 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:1 - cgroup2 cgroup2 rw\n";

TEST(Quota, a_quota_of_cpu_time_is_converted_to_a_number_of_cpus) {
  EXPECT_EQ(parse_cpu_max("150000 100000\n"), 1.5);
  for (const char* text : {"max 100000\n", "-1 100000", "", " ", "1", "0 1", "1 0", "a b"})
    EXPECT_FALSE(parse_cpu_max(text)) << text;
}

TEST(Quota,
     the_quota_is_looked_up_in_each_cgroup_of_the_process_and_in_the_parents_of_these_cgroups) {
  EXPECT_THAT(quota_folders("9:name=systemd:/a\n4:cpuacct,cpu:/b/c\n0::/user/d\n", kMounts),
              ElementsAre(QuotaFolder{"/sys/fs/cgroup/cpu,cpuacct/b/c", false},
                          QuotaFolder{"/sys/fs/cgroup/cpu,cpuacct/b", false},
                          QuotaFolder{"/sys/fs/cgroup/cpu,cpuacct", false},
                          QuotaFolder{"/sys/fs/cgroup/unified/user/d", true},
                          QuotaFolder{"/sys/fs/cgroup/unified/user", true},
                          QuotaFolder{"/sys/fs/cgroup/unified", true}));
}

TEST(Quota, the_quota_of_a_container_is_found_where_its_cgroup_is_mounted) {
  const char* const part = "32 31 0:29 /box/1 /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n";
  EXPECT_THAT(quota_folders("4:cpu:/box/1\n", part),
              ElementsAre(QuotaFolder{"/sys/fs/cgroup/cpu", false}));
  EXPECT_THAT(quota_folders("4:cpu:/box/1/a\n", part),
              ElementsAre(QuotaFolder{"/sys/fs/cgroup/cpu/a", false},
                          QuotaFolder{"/sys/fs/cgroup/cpu", false}));
  // If the container has a cgroup name space of its own, the process sees its own cgroup as the
  // root.
  const char* const whole = "32 31 0:29 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
  EXPECT_THAT(quota_folders("0::/\n", whole), ElementsAre(QuotaFolder{"/sys/fs/cgroup", true}));
}

TEST(Quota, there_is_no_quota_if_no_cgroup_is_mounted_or_if_files_in_proc_are_invalid) {
  EXPECT_THAT(quota_folders("0::/\n", ""), IsEmpty());
  EXPECT_THAT(quota_folders("", kMounts), IsEmpty());
  EXPECT_THAT(quota_folders("0::/\n4:cpu\n:\n", "1 2 - cgroup2 a b\n - \n5 - cgroup\n"), IsEmpty());
}

/// Copies of a system's files, below a temporary folder that serves as the root folder.
class RecordedSystem {
 public:
  explicit RecordedSystem(const std::map<std::string, std::string>& files) {
    for (const auto& [path, text] : files) {
      const std::filesystem::path file = root() + path;
      std::filesystem::create_directories(file.parent_path());
      std::ofstream(file) << text;
    }
  }
  const std::string& root() const { return folder_.path(); }

 private:
  const TestFolder folder_;
};

// A container on a host with cgroup version 2, as systemd and Docker set it up: the container may
// use 2.5 cpus of 64.
TEST(Quota, the_quota_is_read_from_files_of_cgroup_version_2) {
  const RecordedSystem system({
      {"/proc/self/cgroup", "0::/system.slice/docker-4f2a.scope\n"},
      {"/proc/self/mountinfo",
       "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"},
      {"/sys/fs/cgroup/system.slice/docker-4f2a.scope/cpu.max", "250000 100000\n"},
      {"/sys/fs/cgroup/system.slice/docker-4f2a.scope/cpu.stat",
       "usage_usec 7\nnr_periods 5\nnr_throttled 3\nthrottled_usec 41000\n"},
      {"/sys/fs/cgroup/system.slice/cpu.max", "max 100000\n"},
      {"/sys/fs/cgroup/system.slice/cpu.stat", "usage_usec 9\n"},
  });
  EXPECT_EQ(quota_cpus({}, system.root()), 2.5);
  EXPECT_EQ(stopped_ns(system.root()), 41'000'000);
}

// A batch job on a host with cgroup version 1. The job's cgroup has a quota of 4 cpus, and the
// parent of this cgroup has a smaller quota, 1.5 cpus.
TEST(Quota, the_smallest_quota_of_a_group_and_its_parents_applies_in_cgroup_version_1) {
  const RecordedSystem system({
      {"/proc/self/cgroup", "5:cpuset:/job\n4:cpu,cpuacct:/slurm/job\n1:name=systemd:/x\n"},
      {"/proc/self/mountinfo", std::string(kMounts)},
      {"/sys/fs/cgroup/cpu,cpuacct/slurm/job/cpu.cfs_quota_us", "400000\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/slurm/job/cpu.cfs_period_us", "100000\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/slurm/cpu.cfs_quota_us", "75000\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/slurm/cpu.cfs_period_us", "50000\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/slurm/cpu.stat",
       "nr_periods 8\nnr_throttled 2\nthrottled_time 123456789\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/slurm/job/cpu.stat", "throttled_time 1000\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
  });
  EXPECT_EQ(quota_cpus({}, system.root()), 1.5);
  EXPECT_EQ(stopped_ns(system.root()), 123'457'789);
}

TEST(Quota, the_quota_of_other_processes_is_that_of_the_cgroups_that_contain_all_of_them) {
  const RecordedSystem system({
      {"/proc/self/cgroup", "0::/login\n"},
      {"/proc/42/cgroup", "0::/batch/job\n"},
      {"/proc/43/cgroup", "0::/batch/job\n"},
      {"/proc/44/cgroup", "0::/batch/other\n"},
      {"/proc/45/cgroup", "0::/\n"},
      {"/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"},
      {"/sys/fs/cgroup/login/cpu.max", "800000 100000\n"},
      {"/sys/fs/cgroup/batch/cpu.max", "600000 100000\n"},
      {"/sys/fs/cgroup/batch/job/cpu.max", "100000 100000\n"},
      {"/sys/fs/cgroup/batch/other/cpu.max", "100000 100000\n"},
  });
  EXPECT_EQ(quota_cpus({42}, system.root()), 1);
  EXPECT_EQ(quota_cpus({42, 43}, system.root()), 1);
  EXPECT_EQ(quota_cpus({42, 43, 44}, system.root()), 6) << "one quota for both jobs together";
  EXPECT_EQ(quota_cpus({42, 45}, system.root()), std::nullopt);
  EXPECT_EQ(quota_cpus({42, 99}, system.root()), 1) << "a process that has ended";
  EXPECT_EQ(quota_cpus({99}, system.root()), 8) << "of this process";
}

TEST(Quota, there_is_no_quota_if_no_cgroup_file_sets_a_cpu_limit) {
  const RecordedSystem unlimited({
      {"/proc/self/cgroup", "0::/\n"},
      {"/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"},
      {"/sys/fs/cgroup/cpu.max", "max 100000\n"},
  });
  EXPECT_EQ(quota_cpus({}, unlimited.root()), std::nullopt);
  EXPECT_EQ(quota_cpus({}, RecordedSystem({}).root()), std::nullopt);
  EXPECT_EQ(stopped_ns(RecordedSystem({}).root()), 0);
}

TEST(Quota, the_quota_of_this_process_is_a_positive_number_of_cpus_or_unlimited) {
  const auto quota = quota_cpus();
  EXPECT_TRUE(!quota || *quota > 0);
}

}  // namespace
}  // namespace poise::cgroup
