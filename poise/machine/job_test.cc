// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/seeds.h"

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
  POISE_SKIP_IF_SLOW();
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

TEST(Job, skips_switches_whose_host_list_has_an_unknown_format) {
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

TEST(Job, host_lists_may_have_brackets_anywhere_and_empty_items_are_ignored) {
  EXPECT_THAT(expanded_hosts(""), ElementsAre());
  EXPECT_THAT(expanded_hosts("a"), ElementsAre("a"));
  EXPECT_THAT(expanded_hosts(",a,,b,"), ElementsAre("a", "b"));
  EXPECT_THAT(expanded_hosts("[1-2]x,c[9-11]"), ElementsAre("1x", "2x", "c9", "c10", "c11"));
  EXPECT_THAT(expanded_hosts("r[1,3]s[0-1,7]t,z"),
              ElementsAre("r1s0t", "r1s1t", "r1s7t", "r3s0t", "r3s1t", "r3s7t", "z"));
  EXPECT_THAT(expanded_hosts("n[5-5]"), ElementsAre("n5"));
  for (const char* bad : {"n[1", "n[1-2", "n[-]", "n[1-]", "n[-1]", "n[1-2-3]", "a,n[]", "n[x-2]"})
    EXPECT_THROW(expanded_hosts(bad), Error) << bad;
}

TEST(Job, a_list_may_have_up_to_1048576_hosts) {
  POISE_SKIP_IF_SLOW();
  EXPECT_EQ(expanded_hosts("n[1-1048576]").size(), 1048576u);
  EXPECT_THROW(expanded_hosts("n[0-1048576]"), Error);
  EXPECT_THROW(expanded_hosts("n[1-1048576],m"), Error);
  EXPECT_THROW(expanded_hosts("n[1-1048576,0]"), Error);
}

TEST(Job, slurm_counts_may_contain_repetitions_and_have_an_upper_limit) {
  EXPECT_EQ(ranks_of_slurm("3,1(x2),10(x4),0"), 45u);
  EXPECT_EQ(ranks_of_slurm("1(x1048576)"), 1048576u);
  EXPECT_EQ(ranks_of_slurm("1048576"), 1048576u);
  for (const char* bad : {"1048577", "1(x1048577)", "1(x)", "(x2)", "1(2)", "1(x2))", "1(x2", "a",
                          "1,,2", "-1", "1 "})
    EXPECT_THROW(ranks_of_slurm(bad), Error) << bad;
  const auto hosts = hosts_of_slurm("n[1-3],m", "2,16(x3)");
  EXPECT_THAT(names_of(hosts), ElementsAre("n1", "n2", "n3", "m"));
  EXPECT_EQ(hosts[0].slots, 2u);
  EXPECT_EQ(hosts[1].slots, 16u);
  EXPECT_EQ(hosts[3].slots, 16u);
  EXPECT_THROW(hosts_of_slurm("n[1-3]", "2(x4)"), Error);
}

TEST(Job, hosts_of_pbs_and_lsf_are_separated_by_any_blanks_and_their_slots_are_added_up) {
  const auto pbs = hosts_of_pbs(" b \t\r\n\na\r\nb\nc");
  EXPECT_THAT(names_of(pbs), ElementsAre("b", "a", "c"));
  EXPECT_EQ(pbs[0].slots, 2u);
  EXPECT_EQ(pbs[1].slots, 1u);
  EXPECT_EQ(pbs[2].slots, 1u);
  EXPECT_TRUE(hosts_of_pbs(" \n").empty());
  const auto lsf = hosts_of_lsf(" a 3\tb 1048576 a 4 ");
  EXPECT_THAT(names_of(lsf), ElementsAre("a", "b"));
  EXPECT_EQ(lsf[0].slots, 7u);
  EXPECT_EQ(lsf[1].slots, 1048576u);
  for (const char* bad : {"a", "a 1048577", "a b", "a 1 b", "a -1"})
    EXPECT_THROW(hosts_of_lsf(bad), Error) << bad;
}

std::vector<std::string> switches_of(const std::vector<JobHost>& hosts) {
  std::vector<std::string> switches;
  for (const JobHost& host : hosts) switches.push_back(host.leaf_switch);
  return switches;
}

TEST(Job, a_host_is_assigned_to_the_smallest_switch_that_lists_it_and_ties_go_to_the_first_switch) {
  std::vector<JobHost> hosts = hosts_of_slurm("n[0-4]", "");
  find_switches(
      "SwitchName=all Nodes=n[0-9]\n"
      "nodes=n[0-1]\n"                // no name
      "SwitchName=none\n"             // no hosts
      "switchName=  Nodes=n0\n"       // an empty name
      "SwitchNames=other Nodes=n0\n"  // another key
      "# SwitchName=comment Nodes=n[0]\n"
      "  SWITCHNAME=first LinkSpeed=1\tNODES=n[0-1,7]  # rack\n"
      "SwitchName=second Nodes=n[1-3]\n"
      "SwitchName=third Nodes=n[3],x \\\n"
      "  LinkSpeed=2\n",
      hosts);
  EXPECT_THAT(switches_of(hosts), ElementsAre("first", "first", "second", "third", "all"));
}

TEST(Job, switches_become_groups_of_nodes_of_different_size) {
  std::vector<JobHost> hosts = hosts_of_slurm("n[5,1,6,2,7,9]", "");
  find_switches("SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[5-7]\nSwitchName=c Nodes=n9\n",
                hosts);
  std::vector<std::string> names;
  const Machine machine = machine_of_job(machine_from_text("core:4"), hosts, names);
  EXPECT_THAT(names, ElementsAre("n5", "n6", "n7", "n1", "n2", "n9"));
  EXPECT_EQ(machine.levels()[0].name, "switch");
  EXPECT_THAT(machine.levels()[0].first_place, ElementsAre(0, 12, 20, 24));
  ASSERT_EQ(machine.network().tiers.size(), 1u);
  EXPECT_THAT(machine.network().tiers[0].group_of_node, ElementsAre(0, 0, 0, 1, 1, 2));
  EXPECT_EQ(machine.network().tiers[0].latency_factor, machine.network().factor);
  EXPECT_EQ(machine.message_factor(0, 4), machine.message_factor(0, 12));
  EXPECT_EQ(machine.network().hops(0, 2), 2u);
  EXPECT_EQ(machine.network().hops(2, 3), 4u);
}

TEST(Job, omits_the_switch_level_if_there_is_only_one_switch_or_the_switch_of_a_host_is_unknown) {
  for (const char* known : {"SwitchName=a Nodes=n[0-9]\n", "SwitchName=a Nodes=n[7,8]\n"}) {
    std::vector<JobHost> hosts = hosts_of_slurm("n[7,2,8]", "");
    find_switches(known, hosts);
    std::vector<std::string> names{"old"};
    const Machine machine = machine_of_job(machine_from_text("core:4"), hosts, names);
    EXPECT_THAT(names, ElementsAre("n7", "n2", "n8"));
    EXPECT_EQ(machine.levels()[0].name, "node");
    EXPECT_EQ(machine.num_nodes(), 3u);
  }
}

TEST(Job, a_job_on_a_single_host_gets_the_same_machine_as_the_host) {
  std::vector<std::string> names;
  const Machine machine = machine_of_job(machine_from_text("core:4"), {{.name = "n1"}}, names);
  EXPECT_EQ(machine.name(), "core:4");
  EXPECT_EQ(machine.levels()[0].name, "core");
  EXPECT_THAT(names, ElementsAre("n1"));
}

}  // namespace
}  // namespace poise
