// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/message_times.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>

#include "tests/support/random_problem.h"
#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/initial.h"
#include "poise/placement/metrics.h"
#include "poise/workload/generate.h"

namespace poise {
namespace {

Machine physical_machine(std::string_view text) {
  return with_formula(machine_from_text(text), CostFormula::physical);
}

/// A machine with one task of the given load per place, and messages between these tasks.
struct Scene {
  Machine machine;
  Workload workload;
  Placement placement;

  Scene(std::string_view text, std::vector<Message> messages, double load_s = 0)
      : machine(physical_machine(text)),
        placement(blocked(machine.num_places(), machine.num_places())) {
    workload.tasks.assign(machine.num_places(), {.load_s = load_s});
    workload.messages = std::move(messages);
  }
  MessageTimes times() const {
    return message_times(machine, workload, machine.costs(), placement);
  }
  double iteration_s() const {
    return evaluate(machine, workload, machine.costs(), placement, placement).iteration_s;
  }
};

constexpr std::string_view kNothingButCards =
    "node:4 core:2 factors:10,1 bandwidth:1e6 gap:0 bus:0 overhead:0 copy:0 latency:0";

TEST(MessageTimes, one_message_takes_its_size_divided_by_the_network_card_bandwidth) {
  const Scene scene(kNothingButCards, {{0, 2, 1, 500000}});
  EXPECT_DOUBLE_EQ(scene.iteration_s(), 0.5);
}

TEST(MessageTimes, messages_from_one_node_share_the_bandwidth_of_its_network_card) {
  const Scene scene(kNothingButCards, {{0, 2, 1, 500000}, {1, 4, 1, 500000}});
  EXPECT_DOUBLE_EQ(scene.iteration_s(), 1);
}

TEST(MessageTimes, messages_to_one_node_share_the_bandwidth_of_its_network_card) {
  const Scene scene(kNothingButCards, {{0, 6, 1, 500000}, {2, 7, 1, 500000}, {4, 7, 1, 250000}});
  EXPECT_DOUBLE_EQ(scene.iteration_s(), 1.25);
}

TEST(MessageTimes, sending_and_receiving_through_one_card_do_not_slow_each_other) {
  const Scene scene(kNothingButCards, {{0, 2, 1, 500000}, {2, 0, 1, 500000}});
  EXPECT_DOUBLE_EQ(scene.iteration_s(), 0.5);
}

TEST(MessageTimes, two_network_cards_double_the_bandwidth_and_the_message_rate) {
  const Scene scene(
      "node:2 core:1 factors:10,1 bandwidth:1e6 cards:2 gap:1 bus:0 overhead:0 "
      "copy:0 latency:0",
      {{0, 1, 4, 500000}});
  EXPECT_DOUBLE_EQ(scene.iteration_s(), 0.25 + 2);
}

TEST(MessageTimes, a_shared_network_carries_all_messages_one_after_the_other) {
  const Scene scene(
      "node:4 core:1 factors:10,1 bandwidth:0 shared_network:1e6 gap:0 bus:0 "
      "overhead:0 copy:0 latency:0",
      {{0, 1, 1, 500000}, {2, 3, 1, 250000}});
  EXPECT_DOUBLE_EQ(scene.iteration_s(), 0.75);
}

TEST(MessageTimes, messages_that_leave_a_rack_share_the_bandwidth_of_its_uplink) {
  const Scene scene(
      "rack:2 node:2 core:1 factors:20,10,1 bandwidth:1e6 uplink:5e5 gap:0 bus:0 "
      "overhead:0 copy:0 latency:0",
      {{0, 2, 1, 100000}, {1, 3, 1, 100000}, {0, 1, 1, 50000}});
  EXPECT_DOUBLE_EQ(scene.iteration_s(), 0.4);
  EXPECT_DOUBLE_EQ(scene.times().exposed_s[0], 0.4);
}

TEST(MessageTimes, a_message_copied_inside_a_domain_crosses_the_memory_bus_four_times) {
  const Scene scene("numa:2 core:2 factors:1.5,1 bus:1e6 overhead:0 copy:0 latency:0",
                    {{0, 1, 1, 100000}});
  EXPECT_DOUBLE_EQ(scene.iteration_s(), 0.4);
}

TEST(MessageTimes, sender_and_receiver_both_spend_cpu_time_on_messages_and_copies) {
  const Scene scene("numa:2 core:1 factors:3,1 bus:0 overhead:1e-3 copy:1e-6 latency:0",
                    {{0, 1, 2, 1000}});
  EXPECT_DOUBLE_EQ(scene.times().overhead_s[0], 2e-3 + 1e-3);
  // The receiver reads memory of another domain, so its time per message is multiplied by 3.
  EXPECT_DOUBLE_EQ(scene.times().overhead_s[1], 3 * 2e-3 + 1e-3);
}

TEST(MessageTimes, latencies_of_messages_from_different_tasks_overlap) {
  const Scene scene(
      "node:3 core:1 factors:10,1 bandwidth:0 gap:0 bus:0 overhead:0 copy:0 "
      "latency:1e-3",
      {{0, 2, 1, 8}, {1, 2, 5, 8}});
  EXPECT_DOUBLE_EQ(scene.iteration_s(), 1e-2);
}

TEST(MessageTimes, overlap_hides_communication_behind_work) {
  Scene scene(kNothingButCards, {{0, 2, 1, 500000}}, 2);
  EXPECT_DOUBLE_EQ(scene.iteration_s(), 2.5);
  scene.workload.overlap = 0.5;
  EXPECT_DOUBLE_EQ(scene.iteration_s(), 2.25);
  scene.workload.overlap = 1;
  EXPECT_DOUBLE_EQ(scene.iteration_s(), 2);
  for (Task& task : scene.workload.tasks) task.load_s = 0.1;
  EXPECT_DOUBLE_EQ(scene.iteration_s(), 0.5);
}

TEST(MessageTimes, does_not_add_send_or_receive_costs_that_the_task_loads_already_include) {
  Scene scene("numa:1 core:2 bus:0 overhead:1 copy:0 latency:0", {{0, 1, 1, 8}});
  scene.workload.loads_include = LoadsInclude::send;
  EXPECT_EQ(scene.times().overhead_s, (std::vector<double>{0, 1}));
  scene.workload.loads_include = LoadsInclude::send_and_receive;
  EXPECT_EQ(scene.times().overhead_s, (std::vector<double>{0, 0}));
}

TEST(MessageTimes, messages_inside_a_place_are_free) {
  Scene scene("node:2 core:1", {{0, 1, 9, 1 << 20}});
  scene.placement = Placement(std::vector<PlaceId>{0, 0});
  EXPECT_EQ(scene.iteration_s(), 0);
}

TEST(MessageTimes, no_place_waits_for_a_message_that_is_sent_0_times) {
  // The message to place 1 keeps the network card of place 0 busy for 1 s. Place 2 receives no
  // message from place 0, so it does not wait for this card.
  const Scene scene("node:4 core:1 factors:10,1 bandwidth:1e6 latency:1",
                    {{0, 1, 1, 1000000}, {0, 2, 0, 0}});
  EXPECT_EQ(scene.times().exposed_s[2], 0);
  EXPECT_EQ(physical_message_s(scene.machine, scene.machine.costs(), {0, 2, 0, 0}, 0, 2), 0);
}

TEST(MessageTimes, migrating_tasks_share_network_cards_and_take_time_to_pack_and_unpack) {
  Scene scene(
      "node:2 core:2 factors:10,1 bandwidth:1e6 gap:0 bus:0 migrated_byte:1e-8 "
      "migrated_task:1e-3 latency:0",
      {});
  for (Task& task : scene.workload.tasks) task.bytes = 1000000;
  const Placement after(std::vector<PlaceId>{2, 3, 2, 3});
  const double pack_s = 1e-3 + 1e-2;
  EXPECT_DOUBLE_EQ(
      evaluate(scene.machine, scene.workload, scene.machine.costs(), scene.placement, after)
          .migration_s,
      pack_s + 2);
}

/// Computes the times directly from the definitions in message_times.h, one resource after the
/// other.
class Naive {
 public:
  Naive(const Machine& machine, const Workload& workload, const Placement& placement)
      : machine_(machine), costs_(machine.costs()), workload_(workload), placement_(placement) {}

  double iteration_s() const {
    double longest_s = 0;
    for (PlaceId p = 0; p < machine_.num_places(); ++p) {
      const double busy = work(p) + overhead(p), exposed = this->exposed(p);
      longest_s = std::max({longest_s, busy + (1 - workload_.overlap) * exposed, exposed});
    }
    return longest_s;
  }
  double overhead(PlaceId p) const {
    double sum = 0;
    for (const Flow& f : flows()) {
      const TransportCosts& t = same_node(f) ? costs_.inside : costs_.network;
      const double factor = same_node(f) ? machine_.message_factor(f.from, f.to) : 1;
      const double byte_factor = same_node(f) ? machine_.byte_factor(f.from, f.to) : 1;
      if (f.from == p && workload_.loads_include == LoadsInclude::none)
        sum += f.count * t.send_s + f.bytes * t.copy_s_per_byte;
      if (f.to == p && workload_.loads_include != LoadsInclude::send_and_receive)
        sum += f.count * t.receive_s * factor + f.bytes * t.copy_s_per_byte * byte_factor;
    }
    return sum;
  }
  double exposed(PlaceId p) const { return longest_crossed(p) + latency(p); }
  /// The time of the slowest of the resources that the messages of a place cross.
  double longest_crossed(PlaceId p) const {
    std::map<std::string, double> total;
    for (const Flow& f : flows())
      for (const auto& [name, seconds] : crossed(f)) total[name] += seconds;
    double slowest = 0;
    for (const Flow& f : flows())
      if (f.from == p || f.to == p)
        for (const auto& [name, seconds] : crossed(f)) slowest = std::max(slowest, total[name]);
    return slowest;
  }
  double latency(PlaceId p) const {
    double longest = 0;
    for (const Flow& f : flows())
      if (f.to == p)
        longest = std::max(longest, (same_node(f) ? costs_.inside : costs_.network).latency_s *
                                        machine_.message_factor(f.from, f.to));
    return longest;
  }

 private:
  struct Flow {
    PlaceId from, to;
    double count, bytes;
  };
  std::vector<Flow> flows() const {
    std::vector<Flow> flows;
    for (const Message& m : workload_.messages)
      if (placement_.of(m.from) != placement_.of(m.to) && (m.count > 0 || m.bytes > 0))
        flows.push_back(
            {placement_.of(m.from), placement_.of(m.to), double(m.count), double(m.bytes)});
    return flows;
  }
  bool same_node(const Flow& f) const {
    return machine_.node_of_place(f.from) == machine_.node_of_place(f.to);
  }
  double work(PlaceId p) const {
    double sum = workload_.background_s.empty() ? 0 : workload_.background_s[p];
    for (TaskId t = 0; t < workload_.num_tasks(); ++t)
      if (placement_.of(t) == p) sum += workload_.tasks[t].load_s / machine_.speed_of(p);
    return sum;
  }
  /// The names of the resources that a flow crosses, with the time of all its messages on each.
  std::map<std::string, double> crossed(const Flow& f) const {
    std::map<std::string, double> used;
    const DomainId a = machine_.domain_of(f.from), b = machine_.domain_of(f.to);
    const NodeId m = machine_.node_of(a), n = machine_.node_of(b);
    const auto bus = [&](DomainId d, double times) {
      if (costs_.bus_bytes_per_s > 0)
        used["bus " + std::to_string(d)] += times * f.bytes / costs_.bus_bytes_per_s;
    };
    const double times = m == n ? costs_.inside.bus_crossings : costs_.network.bus_crossings;
    bus(a, times), bus(b, times);
    if (m == n && a != b && costs_.bus_bytes_per_s > 0)
      used["link " + std::to_string(a) + " " + std::to_string(b)] =
          f.bytes * machine_.bandwidth_factor(a, b) / costs_.bus_bytes_per_s;
    if (m == n) return used;
    const double card_s = (f.count * costs_.card_s_per_message +
                           (costs_.card_bytes_per_s > 0 ? f.bytes / costs_.card_bytes_per_s : 0)) /
                          costs_.cards;
    used["out " + std::to_string(m)] = used["in " + std::to_string(n)] = card_s;
    if (costs_.shared_network_bytes_per_s > 0)
      used["shared"] = f.bytes / costs_.shared_network_bytes_per_s;
    const std::vector<Tier>& tiers = machine_.network().tiers;
    for (std::size_t t = 0; t < std::min(tiers.size(), costs_.uplink_bytes_per_s.size()); ++t) {
      const auto from = tiers[t].group_of_node[m], to = tiers[t].group_of_node[n];
      if (from == to || costs_.uplink_bytes_per_s[t] == 0) continue;
      const std::string tier = std::to_string(t) + " ";
      used["up " + tier + std::to_string(from)] = f.bytes / costs_.uplink_bytes_per_s[t];
      used["down " + tier + std::to_string(to)] = f.bytes / costs_.uplink_bytes_per_s[t];
    }
    return used;
  }
  const Machine& machine_;
  const CostModel& costs_;
  const Workload& workload_;
  const Placement& placement_;
};

Machine random_physical_machine(Random& random) {
  MachineParts parts = random_machine(random).parts();
  CostModel& costs = parts.costs;
  costs.formula = CostFormula::physical;
  const auto drawn = [&random](double unit) { return unit * static_cast<double>(random.below(4)); };
  for (TransportCosts* transport : {&costs.inside, &costs.network})
    *transport = {drawn(1e-3), drawn(1e-3), drawn(1e-6), drawn(1e-3), drawn(1)};
  costs.bus_bytes_per_s = drawn(1e6);
  costs.card_bytes_per_s = drawn(1e6);
  costs.card_s_per_message = drawn(1e-3);
  costs.cards = 1 + static_cast<std::uint32_t>(random.below(3));
  costs.uplink_bytes_per_s.assign(random.below(3), 0);
  for (double& uplink : costs.uplink_bytes_per_s) uplink = drawn(1e6);
  costs.shared_network_bytes_per_s = drawn(1e6);
  return Machine(std::move(parts));
}

TEST(MessageTimes, are_the_same_as_those_of_a_simple_computation_on_random_machines) {
  for (std::uint64_t seed = 0; seed < num_seeds(400); ++seed) {
    SCOPED_TRACE(seed);
    Random random(mix(seed));
    const Machine machine = random_physical_machine(random);
    Workload workload;
    const TaskId tasks = 1 + static_cast<TaskId>(random.below(12));
    std::vector<PlaceId> places;
    for (TaskId t = 0; t < tasks; ++t) {
      workload.tasks.push_back({.load_s = random.uniform()});
      places.push_back(static_cast<PlaceId>(random.below(machine.num_places())));
    }
    for (std::uint64_t m = random.below(40); m > 0; --m)
      workload.messages.push_back({static_cast<TaskId>(random.below(tasks)),
                                   static_cast<TaskId>(random.below(tasks)),
                                   random.below(3) == 0 ? 0 : random.below(50),
                                   random.below(3) == 0 ? 0 : random.below(500000)});
    workload.loads_include = static_cast<LoadsInclude>(random.below(3));
    workload.overlap = 0.5 * static_cast<double>(random.below(3));
    const Placement placement(places);
    const Naive naive(machine, workload, placement);
    EXPECT_NEAR(evaluate(machine, workload, machine.costs(), placement, placement).iteration_s,
                naive.iteration_s(), 1e-12);
    const MessageTimes times = message_times(machine, workload, machine.costs(), placement);
    for (const PlaceId p : places) {
      EXPECT_NEAR(times.overhead_s[p], naive.overhead(p), 1e-12);
      EXPECT_NEAR(times.exposed_s[p], naive.exposed(p), 1e-12);
    }
  }
}

TEST(MessageTimes, one_message_takes_the_times_at_both_ends_and_on_a_resource_plus_the_latency) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(mix(seed));
    const Machine machine = random_physical_machine(random);
    Workload workload;
    workload.tasks.resize(2);
    for (const Message& message :
         {Message{0, 1, 3, 200000}, Message{0, 1, 0, 70000}, Message{0, 1, 5, 0}}) {
      workload.messages = {message};
      const auto from = static_cast<PlaceId>(random.below(machine.num_places()));
      const auto to = static_cast<PlaceId>(random.below(machine.num_places()));
      const Placement placement(std::vector<PlaceId>{from, to});
      const Naive naive(machine, workload, placement);
      const double expected =
          from == to ? 0 : naive.overhead(from) + naive.overhead(to) + naive.exposed(to);
      EXPECT_NEAR(physical_message_s(machine, machine.costs(), message, from, to), expected, 1e-12);
      EXPECT_EQ(physical_message_s(machine, machine.costs(), message, to, to), 0);
      if (from != to) {
        EXPECT_NEAR(latency_s(machine, machine.costs(), from, to), naive.latency(to), 1e-12);
      }
    }
  }
}

TEST(MessageTimes,
     migrating_tasks_takes_as_long_as_messages_of_their_size_that_are_packed_and_unpacked) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(mix(seed));
    MachineParts parts = random_physical_machine(random).parts();
    parts.costs.seconds_per_migrated_task = 0.25;
    parts.costs.seconds_per_migrated_byte = 1e-5;
    const Machine machine(parts);
    const TaskId tasks = 1 + static_cast<TaskId>(random.below(12));
    const Placement before = initial_placement("random", tasks, machine.num_places(), seed);
    const Placement after = initial_placement("random", tasks, machine.num_places(), seed + 99);
    // In the workload `moves`, each migration is a message. If task t of `workload` migrates, the
    // message goes from task t of `moves`, at the old place, to task t + tasks, at the new place.
    Workload workload, moves;
    std::vector<PlaceId> ends(before.places().begin(), before.places().end());
    ends.insert(ends.end(), after.places().begin(), after.places().end());
    moves.tasks.resize(2 * std::size_t{tasks});
    std::vector<double> packing_s(machine.num_places(), 0);
    for (TaskId t = 0; t < tasks; ++t) {
      workload.tasks.push_back({.load_s = 1,
                                .bytes = random.below(200000),
                                .parts = 1 + static_cast<std::uint32_t>(random.below(3))});
      const Task& task = workload.tasks[t];
      moves.messages.push_back({t, t + tasks, task.parts, task.bytes});
      if (before.of(t) == after.of(t)) continue;
      const double pack_s = 0.25 * task.parts + 1e-5 * static_cast<double>(task.bytes);
      packing_s[before.of(t)] += pack_s;
      packing_s[after.of(t)] += pack_s;
    }
    const Placement ends_placement(ends);
    const Naive naive(machine, moves, ends_placement);
    const std::vector<double> seconds =
        physical_migration_s(machine, workload, machine.costs(), before, after);
    for (PlaceId p = 0; p < machine.num_places(); ++p) {
      const bool is_end = packing_s[p] > 0;
      EXPECT_NEAR(seconds[p], is_end ? packing_s[p] + naive.longest_crossed(p) : 0, 1e-12);
    }
  }
}

TEST(MessageTimes, the_busy_time_is_at_least_the_waiting_time) {
  EXPECT_EQ(busy_s(1, 2, 4, 0), 7);
  EXPECT_EQ(busy_s(1, 2, 4, 0.25), 6);
  EXPECT_EQ(busy_s(1, 2, 4, 1), 4);
  EXPECT_EQ(busy_s(3, 2, 4, 1), 5);
}

TEST(MessageTimes, leaving_out_waiting_times_does_not_change_overheads_and_resource_times) {
  const Machine machine = with_formula(
      machine_from_text("node:2 numa:2 core:2 factors:9,2,1 bandwidth:3e5 bus:1e6 overhead:1e-2"),
      CostFormula::physical);
  const Workload workload = generate(parse_recipe("rmat:messages=20"), 60, 3).front();
  const Placement placement = initial_placement("random", 60, machine.num_places(), 2);
  const MessageTimes all = message_times(machine, workload, machine.costs(), placement),
                     some = message_times_without_waiting(machine, workload, machine.costs(),
                                                          placement);
  EXPECT_EQ(some.overhead_s, all.overhead_s);
  EXPECT_EQ(some.resource_s, all.resource_s);
}

TEST(Resources, every_kind_of_resource_has_its_own_name) {
  for (std::uint64_t seed = 0; seed < num_seeds(30); ++seed) {
    Random random(mix(seed));
    const Machine machine = random_physical_machine(random);
    const Resources resources(machine, machine.costs());
    std::set<std::string> names;
    for (ResourceId r = 0; r < resources.count(); ++r) names.insert(resources.name(r));
    EXPECT_EQ(names.size(), resources.count());
  }
}

}  // namespace
}  // namespace poise
