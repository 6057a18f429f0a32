// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poise/base/error.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

using testing::ElementsAre;

std::vector<std::string> names_of(const std::vector<JobHost>& hosts) {
  std::vector<std::string> names;
  for (const JobHost& host : hosts) names.push_back(host.name);
  return names;
}

TEST(Job, expands_host_lists_of_slurm) {
  EXPECT_THAT(expanded_hosts("n[001-003,7],login"),
              ElementsAre("n001", "n002", "n003", "n7", "login"));
  EXPECT_THAT(expanded_hosts("r[0-1]n[08-09]-ib"),
              ElementsAre("r0n08-ib", "r0n09-ib", "r1n08-ib", "r1n09-ib"));
  for (const char* bad : {"n[3-1]", "n[1-", "n[]", "n[a]", "n[1-99999999999]"})
    EXPECT_THROW(expanded_hosts(bad), Error) << bad;
}

TEST(Job, host_numbers_of_up_to_64_bits_are_read_and_lists_of_too_many_hosts_are_refused) {
  EXPECT_THAT(expanded_hosts("n[18446744073709551614-18446744073709551615]"),
              ElementsAre("n18446744073709551614", "n18446744073709551615"));
  std::string many = "n[0-1048575]";
  for (int i = 0; i < 10000; ++i) many += ",n[0-1048575]";
  for (const std::string& bad : {std::string("n[0-999999][0-999999][0-999999]"), many})
    EXPECT_THROW(expanded_hosts(bad), Error);
}

TEST(Job, reads_processor_counts_of_slurm) {
  const auto hosts = hosts_of_slurm("n[1-4]", "16(x3),8");
  ASSERT_EQ(hosts.size(), 4u);
  EXPECT_EQ(hosts[2].slots, 16u);
  EXPECT_EQ(hosts[3].slots, 8u);
  EXPECT_EQ(hosts_of_slurm("n1", "")[0].slots, 0u);
  EXPECT_THROW(hosts_of_slurm("n[1-4]", "16"), Error);
  EXPECT_THROW(hosts_of_slurm("n[1-4]", "16(x4"), Error);
  EXPECT_EQ(ranks_of_slurm("2(x3),1"), 7u);
  EXPECT_EQ(ranks_of_slurm(""), 0u);
}

TEST(Job, reads_node_files_of_pbs_and_host_lists_of_lsf) {
  const auto pbs = hosts_of_pbs("b\nb\na\nb\n");
  EXPECT_THAT(names_of(pbs), ElementsAre("b", "a"));
  EXPECT_EQ(pbs[0].slots, 3u);
  const auto lsf = hosts_of_lsf("hostB 16 hostA 8 ");
  EXPECT_THAT(names_of(lsf), ElementsAre("hostB", "hostA"));
  EXPECT_EQ(lsf[1].slots, 8u);
  EXPECT_THROW(hosts_of_lsf("hostB 16 hostA"), Error);
  const auto repeated = hosts_of_lsf("hostA 1 hostB 2 hostA 3");
  EXPECT_THAT(names_of(repeated), ElementsAre("hostA", "hostB"));
  EXPECT_EQ(repeated[0].slots, 4u);
}

// The same topology in three forms: topology.conf(5), with and without long lines that continue
// after a backslash, and the output of `scontrol show topology`.
constexpr const char* kTopologies[] = {
    "# racks\nSwitchName=s0 Nodes=n[0-2]\nSwitchName=s1 Nodes=n[3-5]\n"
    "SwitchName=top Switches=s[0-1]\n",
    "SwitchName=s0 \\\n  Nodes=n[0-2] # rack 0\nSwitchName=s1 Nodes=n3,\\ # rack 1 \\\nn[4-5]\n"
    "SwitchName=top \\\r\nSwitches=s[0-1]",
    "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[0-5] Switches=s[0-1]\n"
    "SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[0-2]\n"
    "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[3-5]\n"};

TEST(Job, hosts_on_the_same_network_switch_become_consecutive_nodes) {
  for (const char* topology : kTopologies) {
    auto hosts = hosts_of_slurm("n[4,0,5,1]", "");
    find_switches(topology, hosts);
    EXPECT_EQ(hosts[0].leaf_switch, "s1");
    std::vector<std::string> names;
    const Machine machine =
        machine_of_job(machine_from_text("numa:2 core:2"), std::move(hosts), names);
    EXPECT_THAT(names, ElementsAre("n4", "n5", "n0", "n1"));
    EXPECT_EQ(machine.num_nodes(), 4u);
    EXPECT_EQ(machine.num_places(), 16u);
    EXPECT_EQ(machine.levels()[0].name, "switch");
    EXPECT_LT(machine.hops(0, 4), machine.hops(0, 8));
  }
}

TEST(Job, switches_with_an_unknown_form_of_host_list_are_skipped) {
  std::vector<JobHost> hosts{{.name = "n0"}, {.name = "n1"}};
  find_switches("SwitchName=torus Nodes=bgl[000x133]\nSwitchName=s0 Nodes=n[0-1]\n", hosts);
  EXPECT_EQ(hosts[1].leaf_switch, "s0");
}

TEST(Job, hosts_keep_their_order_if_the_network_topology_is_unknown) {
  std::vector<std::string> names;
  const Machine machine =
      machine_of_job(machine_from_text("core:4"), hosts_of_slurm("n[4,0]", "4(x2)"), names);
  EXPECT_THAT(names, ElementsAre("n4", "n0"));
  EXPECT_EQ(machine.num_nodes(), 2u);
  EXPECT_EQ(machine.levels()[0].name, "node");
  EXPECT_THROW(machine_of_job(machine_from_text("core:4"), {}, names), Error);
}

}  // namespace
}  // namespace poise
