// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/balance/job_machine.h"

#include <cerrno>
#include <gmock/gmock.h>

#include "poise/base/error.h"
#include "poise/machine/text.h"

namespace poise::balance {
namespace {

using testing::ElementsAre;

const std::string kNames[] = {"a", "b"};

TEST(JobMachine, the_core_of_a_thread_is_found_on_hosts_with_more_than_1024_cpus) {
  const auto call = [](pid_t, std::size_t bytes, cpu_set_t* mask) {
    constexpr std::size_t kKernelBytes = 8192 / 8;
    if (bytes < kKernelBytes) {
      errno = EINVAL;
      return -1;
    }
    CPU_ZERO_S(bytes, mask);
    CPU_SET_S(5000, bytes, mask);
    return 0;
  };
  EXPECT_EQ(bound_core(call), 5000);
}

TEST(JobMachine, a_process_bound_to_a_core_gets_the_place_of_this_core) {
  const Machine node = machine_from_text("numa:2 core:2");
  std::vector<ProcessLocation> processes;
  for (const PlaceId p : {3u, 0u, 2u})
    processes.push_back({0, static_cast<std::int32_t>(node.place(p).os_index)});
  const JobMachine job = job_machine(node, processes, std::span(kNames, 1));
  EXPECT_THAT(job.process_of_place, ElementsAre(1, 2, 0));
  EXPECT_EQ(job.machine.num_places(), 3u);
  EXPECT_EQ(job.machine.domain_of(0), 0u);
  EXPECT_EQ(job.machine.domain_of(2), 1u);
}

TEST(JobMachine, processes_not_bound_to_cores_get_the_places_of_their_host_in_rank_order) {
  const Machine node = machine_from_text("numa:2 core:2");
  const ProcessLocation processes[] = {{0, -1}, {1, -1}, {0, -1}, {1, -1}, {0, -1}};
  const JobMachine job = job_machine(node, processes, kNames);
  EXPECT_THAT(job.process_of_place, ElementsAre(0, 2, 4, 1, 3));
  EXPECT_EQ(job.machine.num_nodes(), 2u);
  EXPECT_EQ(job.machine.node_of_place(2), 0u);
  EXPECT_EQ(job.machine.node_of_place(3), 1u);
}

TEST(JobMachine,
     each_core_gets_the_same_number_of_processes_if_there_are_more_processes_than_cores) {
  const Machine node = machine_from_text("numa:2 core:1");
  const std::vector<ProcessLocation> processes(6, ProcessLocation{0, -1});
  const JobMachine job = job_machine(node, processes, std::span(kNames, 1));
  EXPECT_EQ(job.machine.num_places(), 6u);
  EXPECT_EQ(job.machine.domain_of(2), 0u);
  EXPECT_EQ(job.machine.domain_of(3), 1u);
}

TEST(JobMachine, two_processes_bound_to_one_core_get_different_places) {
  const Machine node = machine_from_text("numa:2 core:2");
  const ProcessLocation processes[] = {{0, 0}, {0, 0}};
  const JobMachine job = job_machine(node, processes, std::span(kNames, 1));
  EXPECT_EQ(job.machine.num_places(), 2u);
  EXPECT_THAT(job.process_of_place, ElementsAre(0, 1));
}

TEST(JobMachine, each_process_gets_the_requested_number_of_places) {
  const Machine node = machine_from_text("core:4");
  const ProcessLocation processes[] = {{0, 2}, {0, 1}};
  const JobMachine job = job_machine(node, processes, std::span(kNames, 1), 2);
  EXPECT_THAT(job.process_of_place, ElementsAre(0, 0, 1, 1));
}

TEST(JobMachine, for_a_job_on_several_hosts_the_machine_that_describes_a_host_must_have_one_node) {
  const Machine cluster = machine_from_text("node:2 core:2");
  const ProcessLocation processes[] = {{0, -1}, {1, -1}, {0, -1}, {1, -1}};
  EXPECT_THROW(job_machine(cluster, processes, kNames), Error);
  const std::vector<ProcessLocation> on_one_host(4, ProcessLocation{0, -1});
  EXPECT_EQ(job_machine(cluster, on_one_host, std::span(kNames, 1)).machine.num_nodes(), 2u);
}

TEST(JobMachine,
     an_unmeasured_latency_between_hosts_is_assumed_to_be_ten_times_that_within_a_host) {
  const Machine node = with_assumptions(machine_from_text("core:2"));
  const ProcessLocation processes[] = {{0, -1}, {1, -1}};
  const Machine machine = job_machine(node, processes, kNames).machine;
  EXPECT_EQ(machine.latency_factor(0, 1), 10);
}

TEST(JobMachine, the_assumed_latency_through_a_shared_cache_is_at_least_that_of_local_memory) {
  MachineParts parts =
      machine_from_text("numa:2 core:2 factors:1.6,0.3 message:1e-7 byte:5e-11").parts();
  parts.network_source = Source::assumed;
  const Machine node = with_assumptions(Machine(parts));
  EXPECT_EQ(node.costs().formula, CostFormula::physical);
  EXPECT_EQ(node.message_factor(0, 1), 1) << "a shared cache saves little of a message's cost";
  EXPECT_EQ(node.message_factor(0, 2), 1.6);
}

}  // namespace
}  // namespace poise::balance
