// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/plan.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/support/random_problem.h"
#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/distributed/split_testing.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/workload/generate.h"

namespace poise {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

Machine physical(std::string_view text) {
  return with_formula(machine_from_text(text), CostFormula::physical);
}

OwnedProblem made(Machine machine, std::string_view recipe, TaskId num_tasks) {
  Workload workload = generate(parse_recipe(recipe), num_tasks, 1)[0];
  const auto places = machine.num_places();
  Placement current = blocked(workload.num_tasks(), places);
  return {std::move(machine), std::move(workload), std::move(current)};
}

Outcomes planned(const OwnedProblem& problem, const DistributedLimits& limits = {},
                 bool knows_ranks = true) {
  SimulatedRanks ranks(problem.machine.num_places());
  Outcomes outcomes = plan_on(ranks, problem.machine, split(problem.view()), knows_ranks, limits);
  EXPECT_THAT(outcomes.errors, Each(""));
  return outcomes;
}

/// The predicted seconds of ten iterations plus the migration from the current placement.
double total_s(const OwnedProblem& problem, const Placement& after) {
  const Metrics metrics =
      evaluate(problem.machine, problem.workload, problem.machine.costs(), problem.current, after);
  return 10 * metrics.iteration_s + metrics.migration_s;
}

double times_central(const OwnedProblem& problem) {
  const Placement central = parse_strategy("poise").rebalance(problem.view());
  return total_s(problem, placement_of(problem.view(), planned(problem))) /
         total_s(problem, central);
}

void expect_consistent(const OwnedProblem& problem, const Outcomes& outcomes) {
  const Problem view = problem.view();
  const Placement after = placement_of(view, outcomes);
  check(after, view.workload.num_tasks(), view.machine.num_places());
  std::vector<std::vector<Arrival>> imports(view.machine.num_places());
  for (TaskId t = 0; t < view.workload.num_tasks(); ++t) {
    if (!view.workload.tasks[t].movable) {
      EXPECT_EQ(after.of(t), view.current.of(t)) << t;
    }
    if (after.of(t) != view.current.of(t))
      imports[after.of(t)].push_back({id_of(t), view.current.of(t)});
  }
  for (std::size_t rank = 0; rank < imports.size(); ++rank) {
    std::stable_sort(imports[rank].begin(), imports[rank].end(),
                     [](const Arrival& a, const Arrival& b) { return a.from < b.from; });
    EXPECT_EQ(outcomes.plans[rank].imports, imports[rank]);
  }
}

TEST(DistributedPlan, gives_the_same_placement_as_one_rank_alone_if_the_graph_fits_on_one_rank) {
  const OwnedProblem problem = made(physical("node:2 core:4"), "stencil3d", 200);
  const Placement central = parse_strategy("poise").rebalance(problem.view());
  EXPECT_NE(central, problem.current);
  EXPECT_EQ(placement_of(problem.view(), planned(problem)), central);
}

TEST(DistributedPlan, the_import_list_of_a_rank_contains_exactly_the_tasks_that_move_to_it) {
  for (std::uint64_t seed = 0; seed < num_seeds(16); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const OwnedProblem problem = random_problem(random);
    // With these small limits, even a small problem needs several levels of rank groups, and its
    // tasks are merged into clusters.
    const DistributedLimits limits{
        .width = 2 + static_cast<std::uint32_t>(seed % 5), .vertices = 16, .edges = 32};
    expect_consistent(problem, planned(problem, limits, seed % 2 == 0));
    expect_consistent(problem, planned(problem));
  }
}

TEST(DistributedPlan, repeated_calls_give_the_same_plan) {
  POISE_SKIP_IF_SLOW();
  OwnedProblem problem = made(physical("node:4 core:4"), "geometric:message_bytes=1e5", 6000);
  const DistributedLimits limits{.width = 4, .vertices = 300, .edges = 2000};
  EXPECT_EQ(placement_of(problem.view(), planned(problem, limits)),
            placement_of(problem.view(), planned(problem, limits, false)));
}

/// A distributed decision, and the hash of the placement that it must give.
struct GoldenCase {
  std::string_view machine, recipe, strategy;
  DistributedLimits limits;
  std::uint64_t hash;
};

constexpr GoldenCase kGolden[] = {
    // clang-format off
    {"node:4 core:3", "stencil3d", "greedy_comm", {3, 60, 200}, 0xf388d9a4e8c1298c},
    {"node:4 core:3", "geometric:message_bytes=1e6", "refine_comm", {4, 50, 150}, 0x184b06cb747d884},
    {"rack:2 node:2 numa:2 core:2", "rmat:message_bytes=1e5", "greedy_comm", {3, 40, 100}, 0xc3507d58f908090f},
    {"torus:3x2x2 core:1", "clusters", "refine_comm", {5, 80, 300}, 0xf0019bc8ee7f5966},
    {"node:3 core:4", "imbalance", "refine", {4, 30, 90}, 0x9e80b9939583cf0a},
    {"node:4 core:3", "stencil2d:message_bytes=1e6", "poise", {4, 60, 200}, 0x77c8dcdb56a54150},
    {"core:10", "random:skew=pareto", "poise:steps=3", {3, 40, 120}, 0xf96b4dcae83cb719},
    // clang-format on
};

TEST(DistributedPlan, plans_made_on_different_platforms_are_bitwise_identical) {
  for (const GoldenCase& golden : kGolden) {
    OwnedProblem problem = made(physical(golden.machine), golden.recipe, 700);
    const TaskId num_tasks = problem.workload.num_tasks();
    Random random(1);
    for (TaskId t = 0; t < num_tasks; ++t) {
      if (t % 5 == 0) problem.current.move(t, random.below(problem.machine.num_places()));
      problem.workload.tasks[t].movable = t % 11 != 0;
    }
    for (PlaceId p = 0; p < problem.machine.num_places(); ++p)
      problem.workload.background_s.push_back(p % 4 == 1 ? 0.01 * p : 0);
    SimulatedRanks ranks(problem.machine.num_places());
    const Outcomes outcomes = plan_on(ranks, problem.machine, split(problem.view()), true,
                                      golden.limits, golden.strategy);
    EXPECT_THAT(outcomes.errors, Each(""));
    expect_consistent(problem, outcomes);
    std::uint64_t hash = 0;
    const Placement after = placement_of(problem.view(), outcomes);
    for (const PlaceId place : after.places()) hash = mix(hash + place + 1);
    EXPECT_EQ(hash, golden.hash) << fmt::format("{} {}: {:#x}", golden.recipe, golden.strategy,
                                                hash);
    EXPECT_NE(after, problem.current);
  }
}

struct CostCase {
  std::string_view machine, recipe;
  TaskId tasks;
  std::string_view start = "blocked";
};

/// Adds messages from task 0 to each other task, and back.
void connect_to_a_hub(Workload& workload) {
  workload.messages.clear();
  for (TaskId t = 1; t < workload.num_tasks(); ++t) {
    workload.messages.push_back({t, 0, 1, 10});
    workload.messages.push_back({0, t, 1, 10});
  }
}

/// Makes a problem whose tasks start as `start` says. "one rank": one rank has all tasks. "few
/// ranks": a few ranks have all tasks. "drifted": the placement was good for earlier loads. "hub":
/// tasks start in blocks, and all messages are between one task and the others.
OwnedProblem made(const CostCase& wanted) {
  OwnedProblem problem = made(physical(wanted.machine), wanted.recipe, wanted.tasks);
  const TaskId n = problem.workload.num_tasks();
  const PlaceId places = problem.machine.num_places();
  Random random(3);
  if (wanted.start == "one rank") problem.current = Placement(n, 0);
  if (wanted.start == "hub") connect_to_a_hub(problem.workload);
  if (wanted.start == "few ranks")
    for (TaskId t = 0; t < n; ++t) problem.current.move(t, problem.current.of(t) / 2 * 2);
  if (wanted.start == "random")
    for (TaskId t = 0; t < n; ++t) problem.current.move(t, random.below(places));
  if (wanted.start == "drifted") {
    problem.current = parse_strategy("poise").rebalance(problem.view());
    for (TaskId t = 0; t < n; ++t)
      problem.workload.tasks[t].load_s *= 1 + 0.5 * random.below(3) * (t < n / 3 ? 1 : 0);
  }
  return problem;
}

constexpr CostCase kCostCases[] = {
    {"node:4 core:8", "stencil3d", 6000},
    {"node:4 core:8", "leanmd", 6000},
    {"node:2 numa:2 core:4", "stencil2d", 6000},
    {"node:4 core:4", "clusters", 5000},
    {"node:4 core:4", "stencil3d:message_bytes=1e5,load_s=0.001", 6000},
    {"node:16 core:8", "stencil3d", 10000},
    {"rack:2 node:5 core:8", "geometric", 8000},
    {"node:4 core:8", "ring", 6000},
    {"node:4 core:8", "rmat", 6000},
    {"node:4 core:8", "random", 6000},
    {"node:4 core:8", "nbody", 6000},
    {"node:4 core:8", "stencil4d", 6000},
    {"node:4 core:8", "kneighbor", 6000},
    {"node:4 core:8", "commbench", 6000},
    {"node:4 core:8", "imbalance", 6000},
    {"node:4 core:8", "stencil3d", 9000, "one rank"},
    {"node:12 core:8", "geometric", 9000, "one rank"},
    {"node:4 core:8", "stencil3d", 9000, "few ranks"},
    {"node:4 core:8", "nbody", 6000, "few ranks"},
    {"node:4 core:8", "stencil3d", 6000, "drifted"},
    {"node:4 core:8", "geometric", 6000, "drifted"},
    {"node:4 core:8", "stencil3d", 6000, "random"},
    {"node:2 core:8", "imbalance", 50'000, "hub"},
};

TEST(DistributedPlan, costs_at_most_a_tenth_more_than_a_plan_made_by_one_rank_alone) {
  POISE_SKIP_IF_SLOW();
  double sum = 0;
  int num_cases = 0;
  for (std::size_t i = 0; i < std::size(kCostCases); i += kSanitized ? 9 : 1) {
    const CostCase& wanted = kCostCases[i];
    const double times = times_central(made(wanted));
    EXPECT_LT(times, 1.10) << wanted.machine << ' ' << wanted.recipe << ' ' << wanted.start;
    sum += times;
    ++num_cases;
  }
  EXPECT_LT(sum / num_cases, 1.03);
}

TEST(DistributedPlan, moves_few_tasks_if_a_few_moves_suffice_to_balance_the_loads) {
  OwnedProblem problem = made(physical("core:8"), "ring:load_s=1e-5", 60'000);
  for (Task& task : problem.workload.tasks) task.bytes = 0;
  Random random(3);
  const double average_s = total_load_s(problem.workload) / 8;
  for (int place = 0; place < 8; ++place)
    problem.workload.background_s.push_back(average_s * random.below(1000) / 2e3);
  const Placement central = parse_strategy("poise").rebalance(problem.view());
  const Placement after = placement_of(problem.view(), planned(problem));
  EXPECT_LT(migrations(problem.current, after).size(),
            3 * migrations(problem.current, central).size());
  EXPECT_LT(total_s(problem, after), 1.03 * total_s(problem, central));
}

TEST(DistributedPlan, never_costs_more_than_keeping_the_current_placement) {
  POISE_SKIP_IF_SLOW();
  std::vector<OwnedProblem> problems;
  problems.push_back(made({"node:4 core:8", "kneighbor", 6000}));
  for (std::uint64_t seed = 0; seed < num_seeds(16); ++seed) {
    Random random(seed);
    problems.push_back(random_problem(random));
  }
  for (const OwnedProblem& problem : problems) {
    const DistributedLimits coarse{.width = 3, .vertices = 16, .edges = 32};
    for (const DistributedLimits& limits : {DistributedLimits(), coarse})
      EXPECT_LE(total_s(problem, placement_of(problem.view(), planned(problem, limits))),
                total_s(problem, problem.current) * (1 + 1e-9))
          << problem.workload.num_tasks();
  }
}

TEST(DistributedPlan, a_distributed_plan_by_the_strategy_treematch_lowers_the_total_time) {
  const OwnedProblem problem = made(physical("node:4 core:8"), "stencil3d", 9000);
  SimulatedRanks ranks(problem.machine.num_places());
  const DistributedLimits limits{.width = 8};
  const Outcomes outcomes =
      plan_on(ranks, problem.machine, split(problem.view()), true, limits, "treematch");
  EXPECT_THAT(outcomes.errors, Each(""));
  expect_consistent(problem, outcomes);
  const Placement after = placement_of(problem.view(), outcomes);
  EXPECT_LT(total_s(problem, after), total_s(problem, problem.current));
}

TEST(DistributedPlan, balances_loads_if_all_tasks_start_on_one_rank) {
  POISE_SKIP_IF_SLOW();
  for (const std::string_view machine : {"node:4 core:8", "node:12 core:8"}) {
    OwnedProblem problem = made(physical(machine), "stencil3d", 9000);
    problem.current = Placement(problem.workload.num_tasks(), 0);
    const Placement after = placement_of(problem.view(), planned(problem));
    const Metrics metrics = evaluate(problem.machine, problem.workload, problem.machine.costs(),
                                     problem.current, after);
    EXPECT_LT(metrics.imbalance, 1.05) << machine;
  }
}

TEST(DistributedPlan, lowers_the_total_time_if_one_task_exchanges_messages_with_all_others) {
  POISE_SKIP_IF_SLOW();
  OwnedProblem problem = made(physical("node:2 core:8"), "imbalance", 100'000);
  connect_to_a_hub(problem.workload);
  const Outcomes outcomes = planned(problem);
  expect_consistent(problem, outcomes);
  EXPECT_LT(total_s(problem, placement_of(problem.view(), outcomes)),
            total_s(problem, problem.current));
}

TEST(DistributedPlan,
     assigns_no_tasks_to_a_rank_whose_background_load_alone_exceeds_the_average_load) {
  OwnedProblem problem = made(physical("node:2 core:2"), "ring", 400);
  problem.workload.background_s.assign(4, 0);
  problem.workload.background_s[2] = 0.5 * total_load_s(problem.workload);  // half of all work:
                                                                            // leaves no room for
                                                                            // tasks
  const Placement after = placement_of(problem.view(), planned(problem));
  const Metrics metrics =
      evaluate(problem.machine, problem.workload, problem.machine.costs(), problem.current, after);
  EXPECT_LT(metrics.makespan_s, 1.01 * problem.workload.background_s[2]);
}

/// Every task with an odd number is pinned. Tasks exchange messages as `messages` says.
OwnedProblem every_second_pinned(const std::vector<Message>& messages) {
  OwnedProblem problem = made(physical("core:4"), "ring", 20'000);
  for (TaskId t = 0; t < problem.workload.num_tasks(); ++t) {
    problem.workload.tasks[t].load_s = problem.current.of(t) == 0 ? 3e-3 : 1e-3;
    problem.workload.tasks[t].movable = t % 2 == 0;
  }
  problem.workload.messages = messages;
  return problem;
}

TEST(DistributedPlan, moves_few_tasks_if_every_second_task_is_pinned) {
  std::vector<Message> pairs;
  for (TaskId t = 0; t < 20'000; t += 2) pairs.push_back({t, t + 1, 1, 8});
  for (const std::vector<Message>& messages : {{}, pairs}) {
    const OwnedProblem problem = every_second_pinned(messages);
    const Outcomes outcomes = planned(problem);
    expect_consistent(problem, outcomes);
    const Placement after = placement_of(problem.view(), outcomes);
    const Metrics metrics = evaluate(problem.machine, problem.workload, problem.machine.costs(),
                                     problem.current, after);
    EXPECT_LT(metrics.imbalance, 1.02);
    EXPECT_LT(metrics.migrations, 3'500u);  // to balance the load, at least 2,500 tasks must move
  }
}

TEST(DistributedPlan, plans_are_valid_on_a_single_rank_and_on_ranks_without_tasks) {
  OwnedProblem alone = made(physical("core:1"), "ring", 5);
  EXPECT_EQ(placement_of(alone.view(), planned(alone)), alone.current);
  OwnedProblem empty{physical("node:3 core:4"), {}, Placement(TaskId{0})};
  expect_consistent(empty, planned(empty));
}

TEST(DistributedPlan, all_ranks_get_an_error_if_the_input_of_one_rank_is_wrong) {
  const OwnedProblem problem = made(physical("node:2 core:2"), "ring", 40);
  const auto errors = [&](const auto& spoil, bool knows_ranks = true) {
    std::vector<OwnArrays> own = split(problem.view());
    spoil(own[2]);
    SimulatedRanks ranks(4);
    return plan_on(ranks, problem.machine, own, knows_ranks).errors;
  };
  const auto expect_text = [](const std::vector<std::string>& told, const char* text) {
    EXPECT_THAT(told[2], HasSubstr(text));
    for (const int other : {0, 1, 3}) EXPECT_THAT(told[other], HasSubstr("rank 2 failed"));
  };
  expect_text(errors([](OwnArrays& own) { own.load_s[3] = std::nan(""); }), "load_s[3] is nan");
  expect_text(errors([](OwnArrays& own) { own.bytes.pop_back(); }), "bytes has 9 entries");
  expect_text(errors([](OwnArrays& own) {
                own.message_bytes.assign(own.to.size(), std::uint64_t{1} << 53);
              }),
              "the total number of message bytes exceeds the limit");
  expect_text(errors([](OwnArrays& own) { own.first[4] = 0; }), "indptr[4] is 0");
  expect_text(errors([](OwnArrays& own) { own.to_rank[1] = 4; }), "the rank of neighbour 1 is 4");
  expect_text(errors([](OwnArrays& own) { own.to[0] = 77; }), "a task lists neighbour 77 on rank ");
  expect_text(errors([](OwnArrays& own) { own.to[0] = 77; }, false),
              "a task lists neighbour 77, but no rank has a task with that id");
  expect_text(errors([](OwnArrays& own) { own.ids[1] = own.ids[0]; }), "two tasks have the id ");
  // Two ranks have tasks with the same id. The rank whose part of the directory contains this id
  // reports the error.
  const auto twice = errors([](OwnArrays& own) { own.ids[0] = id_of(0); }, false);
  EXPECT_THAT(twice, testing::Contains(HasSubstr("rank 0 and rank 2 both have a task with id 0")));
  EXPECT_THAT(twice, testing::Not(testing::Contains(IsEmpty())));
}

TEST(DistributedPlan,
     all_ranks_get_an_error_if_the_strategy_or_the_seed_or_the_machine_differs_between_ranks) {
  const OwnedProblem problem = made(physical("node:2 core:2"), "ring", 40);
  const std::vector<OwnArrays> own = split(problem.view());
  const auto errors = [&](const Machine& machine, const char* strategy, std::uint64_t seed) {
    std::vector<std::string> told(own.size());
    SimulatedRanks(4).run([&](const poise_communication& table) {
      const bool differs = table.rank == 2;
      Communicator ranks(table);
      try {
        plan_distributed(ranks, differs ? machine : problem.machine, own[table.rank].view(true),
                         parse_strategy(differs ? strategy : "poise:steps=5"), differs ? seed : 0);
      } catch (const Error& error) {
        told[table.rank] = error.what();
      }
    });
    return told;
  };
  EXPECT_THAT(errors(problem.machine, "poise:steps=5", 0), Each(""));
  const auto fails = Each(HasSubstr("differs between ranks"));
  EXPECT_THAT(errors(problem.machine, "poise:steps=5", 1), fails);
  EXPECT_THAT(errors(problem.machine, "poise:steps=6", 0), fails);
  EXPECT_THAT(errors(problem.machine, "greedy", 0), fails);
  EXPECT_THAT(errors(physical("node:4 core:1"), "poise:steps=5", 0), fails);
  EXPECT_THAT(errors(physical("node:2 core:2 copy:1e-3"), "poise:steps=5", 0), fails);
  EXPECT_THAT(errors(with_formula(problem.machine, CostFormula::nuco), "poise:steps=5", 0), fails);
}

TEST(DistributedPlan, all_ranks_get_an_error_if_ranks_would_form_different_groups) {
  // The two machines have equal numbers of nodes, but only one of them has racks. On that machine,
  // the four ranks of each rack form a group.
  const OwnedProblem problem = made(physical("node:6 core:2"), "ring", 120);
  const Machine with_racks = physical("rack:3 node:2 core:2");
  const std::vector<OwnArrays> own = split(problem.view());
  std::vector<std::string> told(own.size());
  SimulatedRanks(12).run([&](const poise_communication& table) {
    Communicator ranks(table);
    try {
      plan_distributed(ranks, table.rank == 7 ? with_racks : problem.machine,
                       own[table.rank].view(true), parse_strategy("poise:steps=5"), 0,
                       {.width = 4});
    } catch (const Error& error) {
      told[table.rank] = error.what();
    }
  });
  EXPECT_THAT(told, Each(HasSubstr("differs between ranks")));
}

TEST(DistributedPlan, no_rank_waits_forever_if_a_collective_fails_on_one_rank) {
  const OwnedProblem problem = made(physical("node:3 core:2"), "stencil2d", 600);
  const std::vector<OwnArrays> own = split(problem.view());
  const DistributedLimits limits{.width = 3, .vertices = 60, .edges = 200};
  SimulatedRanks counted(6);
  plan_on(counted, problem.machine, own, true, limits);
  const std::uint64_t calls = counted.calls(4);
  ASSERT_GT(calls, 40u);
  for (std::uint64_t call = 0; call + 1 < calls; call += kSanitized ? 7 : 1) {
    SimulatedRanks ranks(6);
    ranks.fail(4, call);
    const auto errors = plan_on(ranks, problem.machine, own, true, limits).errors;
    EXPECT_THAT(errors[4], HasSubstr("returned 5")) << call;
    EXPECT_THAT(errors[0], HasSubstr("rank 4 failed")) << call;
  }
}

}  // namespace
}  // namespace poise
