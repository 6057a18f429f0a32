// SPDX-License-Identifier: BSD-3-Clause
#include "runtimes/profile/rank_site.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "tests/support/test_folder.h"

namespace poise::profile {
namespace {

namespace fs = std::filesystem;

/// A copy of the files in which Linux describes two packages of two memory domains. Each domain has
/// an L3 cache and two cores of two hardware threads; cpus c and c + 8 share core c.
class Host {
 public:
  Host() {
    for (int cpu = 0; cpu < 16; ++cpu) {
      const fs::path folder = root_ / ("cpu" + std::to_string(cpu));
      const int core = cpu % 8;
      write(folder / "topology/physical_package_id", std::to_string(core / 4));
      write(folder / "topology/thread_siblings_list",
            std::to_string(core) + "," + std::to_string(core + 8));
      write(folder / "cache/index3/shared_cpu_list",
            std::to_string(core / 2 * 2) + "-" + std::to_string(core / 2 * 2 + 1));
      fs::create_directories(folder / ("node" + std::to_string(core / 2)));
    }
  }

  RankSite site(std::vector<int> cpus) const { return site_of(cpus, root_.string()); }

 private:
  static void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }

  const TestFolder folder_;
  const fs::path root_ = folder_.path();
};

void expect_site(const RankSite& site, int package, int numa, int l3, int core) {
  EXPECT_EQ(site.package, package);
  EXPECT_EQ(site.numa, numa);
  EXPECT_EQ(site.l3, l3);
  EXPECT_EQ(site.core, core);
}

TEST(RankSite, finds_the_package_and_the_cache_and_the_core_that_contain_all_cpus_of_a_rank) {
  const Host host;
  expect_site(host.site({5}), 1, 2, 4, 5);
  expect_site(host.site({5, 13}), 1, 2, 4, 5);
  expect_site(host.site({4, 5}), 1, 2, 4, -1);
  expect_site(host.site({4, 5, 6}), 1, -1, -1, -1);
  expect_site(host.site({0, 4}), -1, -1, -1, -1);
  // Cpus 6 and 7 are in the same memory domain, but cpu 4 is in another one. So no memory domain
  // contains all three.
  expect_site(host.site({4, 6, 7}), 1, -1, -1, -1);
}

TEST(RankSite, package_and_core_of_a_rank_are_unknown_if_the_host_does_not_list_its_cpus) {
  const Host host;
  expect_site(host.site({99}), -1, -1, -1, -1);
  expect_site(host.site({}), -1, -1, -1, -1);
  EXPECT_NE(own_site().host[0], '\0');
}

}  // namespace
}  // namespace poise::profile
