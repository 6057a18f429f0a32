// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/balancer.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <limits>
#include <set>
#include <thread>

#include "runtimes/charm/stage.h"
#include "tests/support/test_folder.h"

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/trace/trace.h"

namespace poise::charm {
namespace {

using testing::Each;
using testing::HasSubstr;

std::size_t row_of(const std::string& name) {
  for (std::size_t row = 0; row < balancers().size(); ++row)
    if (balancers()[row].name == name) return row;
  ADD_FAILURE() << name << " is not listed";
  return 0;
}

/// A ring of objects, all on the first PE; the first object is pinned.
Statistics ring(std::uint64_t objects, std::size_t pes) {
  Statistics statistics;
  statistics.pes.resize(pes);
  statistics.pes_are_here = false;
  for (std::uint64_t i = 0; i < objects; ++i) {
    statistics.objects.push_back({{i, 1}, 1 + static_cast<double>(i % 5), 0, 0, i != 0});
    statistics.messages.push_back({{i, 1}, {(i + 1) % objects, 1}, -1, 0, 0, 1, 1000});
  }
  return statistics;
}

std::vector<std::int32_t> where_they_are(const Statistics& statistics) {
  std::vector<std::int32_t> pes;
  for (const ObjectRow& object : statistics.objects) pes.push_back(object.pe);
  return pes;
}

TEST(Balancers, no_balancer_name_is_a_prefix_of_another_balancer_name) {
  std::set<std::string> names;
  for (const Listed& listed : balancers()) {
    EXPECT_FALSE(listed.summary.empty());
    EXPECT_TRUE(names.insert(listed.name).second) << listed.name << " appears twice";
  }
  for (const std::string& a : names)
    for (const std::string& b : names) EXPECT_TRUE(a == b || b.rfind(a, 0) != 0) << a << ", " << b;
}

TEST(Balancers, every_strategy_is_offered_as_a_load_balancer_of_charm) {
  EXPECT_EQ(balancers().size(), strategies().size() + 4);
  for (const char* name : {"PoiseLB", "NucoLB", "NumaLB", "TreeMatchTopoLB", "PoiseGreedyRefineLB"})
    row_of(name);
}

TEST(Balancer, moves_objects_but_leaves_pinned_ones_in_place) {
  for (const Listed& listed : balancers()) {
    SCOPED_TRACE(listed.name);
    Balancer balancer(row_of(listed.name), "");
    const Statistics statistics = ring(12, 3);
    const Decision decision = balancer.decide(statistics);
    ASSERT_EQ(decision.pe_of_object.size(), 12u);
    EXPECT_EQ(decision.pe_of_object[0], 0);
    EXPECT_THAT(decision.pe_of_object, Each(testing::AllOf(testing::Ge(0), testing::Lt(3))));
  }
  Balancer greedy(row_of("PoiseGreedyLB"), "");
  EXPECT_THAT(greedy.decide(ring(12, 3)).pe_of_object, testing::IsSupersetOf({0, 1, 2}));
}

TEST(Balancer, the_placement_does_not_depend_on_the_order_in_which_objects_are_listed) {
  for (const Listed& listed : balancers()) {
    SCOPED_TRACE(listed.name);
    Statistics statistics = ring(12, 2);
    const auto once = Balancer(row_of(listed.name), "").decide(statistics).pe_of_object;
    std::reverse(statistics.objects.begin(), statistics.objects.end());
    auto again = Balancer(row_of(listed.name), "").decide(statistics).pe_of_object;
    std::reverse(again.begin(), again.end());
    EXPECT_EQ(again, once);
  }
}

TEST(Balancer, balancers_of_several_groups_of_pes_can_decide_concurrently) {
  for (const Listed& listed : balancers()) {
    SCOPED_TRACE(listed.name);
    const Statistics statistics = ring(12, 2);
    const auto decided = [&] {
      return Balancer(row_of(listed.name), "", Scope::group).decide(statistics).pe_of_object;
    };
    std::vector<std::int32_t> pes[4];
    {
      std::vector<std::jthread> groups;
      for (auto& of_group : pes) groups.emplace_back([&] { of_group = decided(); });
    }
    EXPECT_THAT(pes, Each(decided()));
  }
}

TEST(Balancer, moves_nothing_and_warns_once_if_the_strategy_fails) {
  Balancer balancer(row_of("PoiseOptimalLB"), "");
  const Statistics statistics = ring(500, 3);
  const Decision first = balancer.decide(statistics), second = balancer.decide(statistics);
  EXPECT_THAT(first.warning, HasSubstr("strategy optimal failed, so objects stay where they are"));
  EXPECT_EQ(second.warning, "");
  EXPECT_EQ(first.pe_of_object, where_they_are(statistics));
  EXPECT_EQ(second.pe_of_object, where_they_are(statistics));
}

TEST(Balancer, moves_nothing_and_warns_once_if_the_statistics_are_invalid) {
  Balancer balancer(row_of("PoiseGreedyLB"), "");
  Statistics statistics = ring(10, 3);
  statistics.objects[3].wall_s = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(balancer.decide(statistics).warning,
              HasSubstr("object 3 of array 1 has a load of nan s"));
  EXPECT_EQ(balancer.decide(statistics).pe_of_object, where_they_are(statistics));
  statistics = ring(10, 3);
  for (PeRow& pe : statistics.pes) pe.available = false;
  EXPECT_EQ(balancer.decide(statistics).pe_of_object, where_they_are(statistics));
  EXPECT_TRUE(Balancer(0, "").decide(Statistics()).pe_of_object.empty());
  EXPECT_EQ(Balancer(0, "").decide(Statistics()).warning, "");
}

TEST(Balancer, a_replay_decides_like_a_run_whose_pes_share_one_memory_domain) {
  Random random(1);
  Statistics replay = ring(60, 4);
  for (ObjectRow& object : replay.objects) {
    object.wall_s = 1e-5 * (1 + random.uniform());
    object.pe = object.movable ? static_cast<std::int32_t>(random.below(4)) : 0;
  }
  Statistics run = replay;
  run.pes_are_here = true;
  for (const char* name : {"PoiseLB", "PoiseGreedyCommLB"}) {
    SCOPED_TRACE(name);
    ::setenv("POISE_MACHINE", "core:1", 1);
    Balancer of_run(row_of(name), "");
    ::unsetenv("POISE_MACHINE");
    EXPECT_EQ(Balancer(row_of(name), "").decide(replay).pe_of_object,
              of_run.decide(run).pe_of_object);
  }
}

/// Creates a balancer that records a trace.
std::unique_ptr<Balancer> recording(const std::string& name, const std::string& trace) {
  ::setenv("POISE_TRACE", trace.c_str(), 1);
  auto balancer = std::make_unique<Balancer>(row_of(name), "");
  ::unsetenv("POISE_TRACE");
  return balancer;
}

TEST(Balancer, warns_that_the_strategy_failed_even_if_the_trace_cannot_be_written_either) {
  const auto balancer = recording("PoiseOptimalLB", "/nowhere/run.poise");
  EXPECT_THAT(balancer->decide(ring(500, 3)).warning,
              testing::AllOf(HasSubstr("strategy optimal failed, so objects stay where they are"),
                             HasSubstr("; this decision is missing from the trace or log")));
}

TEST(Balancer, the_trace_omits_a_decision_whose_total_load_exceeds_the_limit) {
  const TestFolder folder;
  const std::string path = folder.file("large_loads.poise");
  const auto balancer = recording("PoiseGreedyLB", path);
  Statistics statistics = ring(10, 3);
  balancer->decide(statistics);
  for (ObjectRow& object : statistics.objects) object.wall_s = 1e15;
  EXPECT_THAT(balancer->decide(statistics).warning,
              HasSubstr("the total number of seconds of work exceeds the limit"));
  balancer->decide(ring(10, 3));
  // The recording is completed only when this program ends, so the file is read as an incomplete
  // one.
  EXPECT_EQ(read_trace(path, {.format = {}, .recover = true}).phases.size(), 2u);
}

TEST(Balancer, the_load_of_a_pinned_object_counts_again_once_its_pe_is_available_again) {
  // PE 0 has a pinned object as heavy as all others together. Greedy places no other object there
  // if it knows this load.
  Statistics statistics = ring(9, 2);
  for (ObjectRow& object : statistics.objects) object.wall_s = 1;
  statistics.objects[0].wall_s = 8;
  Balancer balancer(row_of("PoiseGreedyLB"), "");
  for (const bool available : {false, false, true}) {
    statistics.pes[0].available = available;
    const auto pes = balancer.decide(statistics).pe_of_object;
    EXPECT_EQ(std::count(pes.begin(), pes.end(), 0), 1) << available;
  }
}

TEST(Balancer,
     the_past_load_of_an_object_pinned_to_an_unavailable_pe_is_not_counted_on_another_pe) {
  Statistics statistics = ring(9, 3);
  for (ObjectRow& object : statistics.objects) object.wall_s = 1;
  statistics.objects[0].wall_s = 8;
  Balancer balancer(row_of("PoiseMultistepLB"), "");
  for (const bool available : {true, false, false}) {
    statistics.pes[0].available = available;
    const auto pes = balancer.decide(statistics).pe_of_object;
    if (available) continue;
    EXPECT_EQ(std::count(pes.begin(), pes.end(), 1), 4);
  }
}

TEST(Balancer, moves_all_movable_objects_off_an_unavailable_pe_and_no_object_to_this_pe) {
  for (const char* name : {"PoiseLB", "PoiseKeepLB", "NucoLB", "PoiseGreedyLB"}) {
    SCOPED_TRACE(name);
    Statistics statistics = ring(20, 3);
    statistics.pes[0].available = false;
    const auto pes = Balancer(row_of(name), "").decide(statistics).pe_of_object;
    EXPECT_EQ(pes[0], 0);  // pinned
    EXPECT_THAT(std::vector(pes.begin() + 1, pes.end()), Each(testing::Gt(0)));
  }
}

TEST(Balancer, removes_all_movable_objects_from_an_unavailable_pe_even_if_the_strategy_fails) {
  Statistics statistics = ring(500, 3);
  statistics.pes[0].available = false;
  const auto pes = Balancer(row_of("PoiseOptimalLB"), "").decide(statistics).pe_of_object;
  EXPECT_EQ(pes[0], 0);  // pinned
  EXPECT_THAT(std::vector(pes.begin() + 1, pes.end()), Each(testing::Gt(0)));
}

TEST(Balancer, uses_a_pe_again_when_it_is_available_again) {
  Balancer balancer(row_of("PoiseGreedyLB"), "");
  Statistics statistics = ring(20, 3);
  statistics.pes[2].available = false;
  EXPECT_THAT(balancer.decide(statistics).pe_of_object, Each(testing::Lt(2)));
  statistics.pes[2].available = true;
  EXPECT_THAT(balancer.decide(statistics).pe_of_object, testing::Contains(2));
}

TEST(Balancer, gives_more_load_to_faster_pes) {
  Balancer balancer(row_of("PoiseGreedyLB"), "");
  Statistics statistics = ring(300, 2);
  statistics.pes[1].speed = 3;
  const auto pes = balancer.decide(statistics).pe_of_object;
  const auto on_fast = std::count(pes.begin(), pes.end(), 1);
  EXPECT_GT(on_fast, 2 * (300 - on_fast));
}

TEST(Balancer, decides_without_a_warning_if_objects_were_created_or_destroyed) {
  Balancer balancer(row_of("PoiseMultistepLB"), "");
  for (const std::uint64_t objects : {20u, 20u, 21u, 19u, 19u}) {
    const Decision decision = balancer.decide(ring(objects, 3));
    EXPECT_EQ(decision.warning, "");
    EXPECT_EQ(decision.pe_of_object.size(), objects);
  }
}

TEST(Balancer, uses_a_new_seed_for_each_decision) {
  Balancer random(row_of("PoiseRandomLB"), ""), again(row_of("PoiseRandomLB"), "");
  const Statistics statistics = ring(40, 4);
  std::set<std::vector<std::int32_t>> drawn;
  for (int decision = 0; decision < 3; ++decision) {
    const auto pes = random.decide(statistics).pe_of_object;
    EXPECT_EQ(again.decide(statistics).pe_of_object, pes) << "the same run, the same placements";
    drawn.insert(pes);
  }
  EXPECT_EQ(drawn.size(), 3u);
}

/// Runs decisions `first` to `end` - 1; the loads change from one to the next.
std::vector<std::int32_t> decided(Balancer& balancer, int first, int end) {
  std::vector<std::int32_t> pes;
  for (int decision = first; decision < end; ++decision) {
    Statistics statistics = ring(12, 3);
    for (std::size_t i = 0; i < 12; ++i)
      statistics.objects[i].wall_s = 1 + static_cast<double>((i * i + 7 * decision * i) % 11);
    pes = balancer.decide(statistics).pe_of_object;
  }
  return pes;
}

TEST(Balancer, decisions_after_a_restart_from_a_checkpoint_equal_those_of_an_uninterrupted_run) {
  for (const Listed& listed : balancers()) {
    SCOPED_TRACE(listed.name);
    Balancer first(row_of(listed.name), ""), second(row_of(listed.name), "");
    decided(first, 0, 3);
    second.restart(first.checkpoint());
    EXPECT_EQ(decided(second, 3, 5), decided(first, 3, 5));
  }
}

TEST(Balancer,
     decisions_after_a_restart_without_checkpoint_differ_from_those_of_an_uninterrupted_run) {
  for (const char* name : {"PoiseRandomLB", "PoiseMultistepLB"}) {
    SCOPED_TRACE(name);
    Balancer first(row_of(name), ""), second(row_of(name), "");
    decided(first, 0, 3);
    EXPECT_NE(decided(second, 3, 4), decided(first, 3, 4));
  }
}

TEST(Balancer, refuses_an_invalid_checkpoint) {
  Balancer balancer(row_of("PoiseRandomLB"), ""), same(row_of("PoiseRandomLB"), "");
  EXPECT_THROW(balancer.restart({}), std::runtime_error);
  EXPECT_THROW(balancer.restart(std::vector<char>(50, 'x')), std::runtime_error);
  EXPECT_EQ(decided(balancer, 0, 1), decided(same, 0, 1));
}

TEST(Stage, each_host_of_the_job_becomes_one_node_that_the_settings_describe) {
  Settings settings{parse_strategy("poise")};
  settings.machine = "numa:2 core:2";
  Statistics statistics = ring(1, 8);
  for (std::size_t pe = 0; pe < 8; ++pe) statistics.pes[pe].host = pe % 2 == 0 ? 7 : 3;
  const Stage stage = stage_of(host_of(settings), statistics);
  EXPECT_EQ(stage.machine.num_nodes(), 2u);
  EXPECT_EQ(stage.machine.num_domains(), 4u);
  EXPECT_THAT(stage.pe_map.pe_of_place, testing::ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
  EXPECT_THAT(stage.pe_map.place_of_pe, testing::ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
}

TEST(Stage, message_costs_on_a_machine_from_the_settings_follow_the_formula_of_poise_plan) {
  Settings settings{parse_strategy("poise")};
  settings.machine = "core:2 bandwidth:1.25e6";
  Statistics statistics = ring(1, 4);
  for (std::size_t pe = 0; pe < 4; ++pe) statistics.pes[pe].host = pe / 2;
  const Machine machine = stage_of(host_of(settings), statistics).machine;
  EXPECT_EQ(machine.costs().formula, CostFormula::physical);
  EXPECT_EQ(machine.costs().card_bytes_per_s, 1.25e6);
  EXPECT_EQ(machine.parts().network.factor, 10);  // the factor assumed for an unmeasured network
}

TEST(Stage, the_speed_of_a_pe_is_its_measured_speed_divided_by_that_of_the_fastest_pe) {
  Statistics statistics = ring(1, 2);
  statistics.pes[0].speed = 100;
  statistics.pes[1].speed = 50;
  EXPECT_THAT(stage_of(flat_machine(1), statistics).speed_of_place, testing::ElementsAre(1, 0.5));
  statistics.pes[0].speed = 0;
  EXPECT_THROW(stage_of(flat_machine(1), statistics), Error);
}

}  // namespace
}  // namespace poise::charm
