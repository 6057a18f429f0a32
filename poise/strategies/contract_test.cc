// SPDX-License-Identifier: BSD-3-Clause
// Properties that every strategy must have, checked on many machines and workloads. A strategy that
// is added to the table of strategies is tested here automatically.
#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/seeds.h"

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/machine/find.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/strategy.h"

namespace poise {

void PrintTo(const Strategy& strategy, std::ostream* out) { *out << strategy.name; }

namespace {

struct Situation {
  std::string name;
  Workload workload;
  Placement current;
};

Workload tasks_with_loads(const std::vector<double>& loads_s) {
  Workload workload;
  for (std::size_t t = 0; t < loads_s.size(); ++t) {
    workload.tasks.push_back({.load_s = loads_s[t], .bytes = 1000 * t});
    const auto x = static_cast<double>(t % 4), y = static_cast<double>(t / 4 % 4);
    workload.positions.push_back({x, y, static_cast<double>(t / 16)});
  }
  return workload;
}

/// Adds messages between neighbours on a ring of the tasks, and between random pairs of tasks. Some
/// of these messages are listed twice, and some tasks send messages to themselves.
void add_messages(Workload& workload, Random& random) {
  const TaskId n = workload.num_tasks();
  for (TaskId t = 0; t < n; ++t) {
    workload.messages.push_back({t, (t + 1) % n, 1 + random.below(5), random.below(10000)});
    workload.messages.push_back({(t + 1) % n, t, 1, 100});
    const auto far = static_cast<TaskId>(random.below(n));
    for (std::uint64_t copies = random.below(3); copies > 0; --copies)
      workload.messages.push_back({t, far, 2, 50});
    if (random.below(8) == 0) workload.messages.push_back({t, t, 9, 1u << 20});
  }
}

std::vector<double> drawn_loads(std::size_t count, double spread, Random& random) {
  std::vector<double> loads_s(count);
  for (double& load_s : loads_s) load_s = 1e-3 * portable_exp(spread * random.normal());
  return loads_s;
}

Placement drawn_placement(TaskId num_tasks, const Machine& machine, Random& random) {
  Placement placement(num_tasks);
  for (TaskId t = 0; t < num_tasks; ++t)
    placement.move(t, static_cast<PlaceId>(random.below(machine.num_places())));
  return placement;
}

/// Workloads on which strategies have failed before, scaled to the machine.
std::vector<Situation> situations(const Machine& machine, std::uint64_t seed) {
  Random random(seed);
  const std::size_t p = machine.num_places();
  std::vector<Situation> all;
  const auto add = [&](std::string name, Workload workload) {
    Placement current = drawn_placement(workload.num_tasks(), machine, random);
    all.push_back({std::move(name), std::move(workload), std::move(current)});
    return &all.back();
  };
  add("spread loads", tasks_with_loads(drawn_loads(5 * p + 1, 0.5, random)));
  add_messages(all.back().workload, random);
  add("skewed loads, all on one place", tasks_with_loads(drawn_loads(3 * p + 2, 2, random)));
  add_messages(all.back().workload, random);
  all.back().current = Placement(all.back().workload.num_tasks(), static_cast<PlaceId>(p - 1));
  add("equal loads", tasks_with_loads(std::vector<double>(4 * p, 0.5)));
  add_messages(all.back().workload, random);
  add("no loads", tasks_with_loads(std::vector<double>(2 * p + 1, 0)));
  add_messages(all.back().workload, random);
  add("loads far apart", tasks_with_loads({1e-300, 1e100, 0, 3, 1e-9, 5e99}));
  add_messages(all.back().workload, random);
  add("one task", tasks_with_loads({1}));
  add("one idle task that talks to itself", tasks_with_loads({0}))
      ->workload.messages.push_back({0, 0, 1, 1});
  add("fewer tasks than places", tasks_with_loads(drawn_loads((p + 1) / 2, 1, random)));
  add_messages(all.back().workload, random);
  add("a third pinned", tasks_with_loads(drawn_loads(4 * p, 1, random)));
  add_messages(all.back().workload, random);
  for (Task& task : all.back().workload.tasks) task.movable = random.below(3) != 0;
  add("all pinned", tasks_with_loads(drawn_loads(2 * p, 1, random)));
  add_messages(all.back().workload, random);
  for (Task& task : all.back().workload.tasks) task.movable = false;
  add("heavy background", tasks_with_loads(drawn_loads(4 * p, 0.5, random)));
  add_messages(all.back().workload, random);
  for (std::size_t i = 0; i < p; ++i)
    all.back().workload.background_s.push_back(i % 3 == 0 ? 1.0 : 0);
  return all;
}

/// Machines: flat and deep ones, one with a single place, odd numbers of places, unequal speeds,
/// and networks that are not trees.
constexpr const char* kMachines[] = {
    "core:1",
    "core:7",
    "core:6 speeds:1,0.3,0.7",
    "node:2 numa:2 core:2 factors:10,1.5,1",
    "node:3 numa:2 l3:2 core:3 factors:20,2,1.2,1 byte:1e-9",
    "torus:3x2x2 node:2 numa:2 core:2 factors:10,8,1.5,1 speeds:1,1,0.5,0.5",
    "dragonfly:3x2 core:2",
};

void check_fits(const Problem& problem, const Placement& placed) {
  ASSERT_NO_THROW(check(placed, problem.workload.num_tasks(), problem.machine.num_places()));
  for (const Migration& moved : migrations(problem.current, placed))
    EXPECT_TRUE(problem.workload.tasks[moved.task].movable) << "pinned task " << moved.task;
}

/// True if the strategy needs a library that this build does not have.
bool is_missing(const Choice& choice) {
  const Machine machine = flat_machine(2);
  const Workload workload = tasks_with_loads({1, 1});
  const Placement current(2);
  try {
    choice.rebalance({machine, workload, current, machine.costs()});
  } catch (const Error& error) {
    if (std::string_view(error.what()).find("built without") != std::string_view::npos) return true;
    throw;
  }
  return false;
}

/// Oracles (slow strategies that find the optimum, Strategy::is_oracle) may refuse large problems.
/// All other strategies must accept every problem.
bool is_refused(const Choice& choice, const Problem& problem) {
  if (!choice.strategy->is_oracle) return false;
  try {
    choice.rebalance(problem);
  } catch (const Error&) {
    return true;
  }
  return false;
}

class Contract : public testing::TestWithParam<Strategy> {
 protected:
  void SetUp() override {
    if (is_missing(initial())) GTEST_SKIP() << "built without the library it needs";
  }

  Choice initial() const { return {&GetParam(), Knobs(GetParam().knobs)}; }
};

TEST_P(Contract, every_strategy_places_every_task_and_leaves_pinned_tasks_in_place) {
  for (const char* text : kMachines) {
    const Machine machine = machine_from_text(text);
    for (const Situation& now : situations(machine, 1)) {
      SCOPED_TRACE(std::string(text) + ": " + now.name);
      const Problem problem{machine, now.workload, now.current, machine.costs(), 3};
      if (is_refused(initial(), problem)) continue;
      check_fits(problem, initial().rebalance(problem));
    }
  }
}

TEST_P(Contract, every_strategy_works_on_every_machine_in_the_machines_folder) {
  for (const auto& file : std::filesystem::directory_iterator(POISE_MACHINES)) {
    SCOPED_TRACE(file.path().filename());
    const Machine machine = find_machine(file.path().string());
    if (GetParam().is_oracle && machine.num_places() > 64)
      continue;  // an oracle would take a minute
    Random random(machine.num_places());
    const std::size_t num_tasks = std::min(5 * machine.num_places(), machine.num_places() + 1000);
    Workload workload = tasks_with_loads(drawn_loads(num_tasks, 1, random));
    add_messages(workload, random);
    const Placement current = drawn_placement(workload.num_tasks(), machine, random);
    const Problem problem{machine, workload, current, machine.costs(), 3};
    if (is_refused(initial(), problem)) continue;
    check_fits(problem, initial().rebalance(problem));
  }
}

TEST_P(Contract, every_strategy_is_deterministic) {
  POISE_SKIP_IF_SLOW();
  for (const char* text : kMachines) {
    const Machine machine = machine_from_text(text);
    for (const Situation& now : situations(machine, 2)) {
      SCOPED_TRACE(std::string(text) + ": " + now.name);
      const Problem problem{machine, now.workload, now.current, machine.costs(), 5};
      if (is_refused(initial(), problem)) continue;
      EXPECT_EQ(initial().rebalance(problem), initial().rebalance(problem));
    }
  }
}

TEST_P(Contract,
       a_strategy_listed_as_ignoring_messages_gives_the_same_placement_if_there_are_no_messages) {
  if (!GetParam().ignores_messages) GTEST_SKIP() << "it uses messages";
  for (const char* text : kMachines) {
    const Machine machine = machine_from_text(text);
    for (const Situation& now : situations(machine, 6)) {
      SCOPED_TRACE(std::string(text) + ": " + now.name);
      Workload silent = now.workload;
      silent.messages.clear();
      EXPECT_EQ(initial().rebalance({machine, now.workload, now.current, machine.costs(), 5}),
                initial().rebalance({machine, silent, now.current, machine.costs(), 5}));
    }
  }
}

/// The settings of a knob to test, as text: its lowest and highest value, or each of its choices.
std::vector<std::string> values_to_try(const Knob& knob) {
  if (knob.choices.empty()) return {fmt::format("{}", knob.min), fmt::format("{}", knob.max)};
  return {knob.choices.begin(), knob.choices.end()};
}

TEST_P(Contract, every_strategy_works_with_the_smallest_and_largest_value_of_each_parameter) {
  const Machine machine = machine_from_text("node:2 numa:2 core:3");
  for (const Knob& knob : GetParam().knobs)
    for (const std::string& value : values_to_try(knob)) {
      Choice choice = initial();
      choice.knobs.set(GetParam().name, knob.name, value);
      if (is_missing(choice)) continue;
      for (const Situation& now : situations(machine, 3)) {
        SCOPED_TRACE(fmt::format("{}={}: {}", knob.name, value, now.name));
        const Problem problem{machine, now.workload, now.current, machine.costs(), 7};
        if (is_refused(choice, problem)) continue;
        check_fits(problem, choice.rebalance(problem));
      }
    }
}

/// Calls `visit` once for each of the num_places^num_tasks placements.
template <typename Visit>
void for_each_placement(TaskId num_tasks, std::uint32_t num_places, const Visit& visit) {
  Placement placement(num_tasks);
  for (TaskId t = 0; t < num_tasks;) {
    visit(placement);
    for (t = 0; t < num_tasks; ++t) {  // counts up in base num_places
      placement.move(t, (placement.of(t) + 1) % num_places);
      if (placement.of(t) != 0) break;
    }
  }
}

double makespan_s(const Problem& problem, const Placement& placement) {
  return evaluate(problem.machine, problem.workload, problem.costs, problem.current, placement)
      .makespan_s;
}

/// Graham's bound on the makespan of list scheduling. It holds because the task that finishes last
/// was given to a place that was then no busier than the average. It is valid for greedy with equal
/// speeds, no pinned tasks and no background load.
double list_bound_s(const Problem& problem) {
  double largest_s = 0;
  for (const Task& task : problem.workload.tasks) largest_s = std::max(largest_s, task.load_s);
  return average_s(problem.machine, problem.workload) +
         largest_s * (1 - 1.0 / problem.machine.num_places());
}

struct Tiny {
  Workload workload;
  double optimum_s;
  Placement best, worst;
};

/// Small problems without messages, solved by trying all placements. Loads are small integers, so
/// that sums are exact.
std::vector<Tiny> tiny_problems(const Machine& machine) {
  Random random(machine.num_places());
  std::vector<Tiny> all;
  for (TaskId num_tasks = 1; num_tasks <= 7; ++num_tasks)
    for (int draw = 0; draw < 6; ++draw) {
      std::vector<double> loads_s(num_tasks);
      for (double& load_s : loads_s) load_s = static_cast<double>(random.below(7));
      Tiny tiny{tasks_with_loads(loads_s), 1e9, Placement(num_tasks), Placement(num_tasks)};
      const Problem problem{machine, tiny.workload, tiny.worst, machine.costs()};
      for_each_placement(num_tasks, machine.num_places(), [&](const Placement& placement) {
        const double time_s = makespan_s(problem, placement);
        if (time_s < tiny.optimum_s) tiny.best = placement;
        tiny.optimum_s = std::min(tiny.optimum_s, time_s);
      });
      all.push_back(std::move(tiny));
    }
  return all;
}

TEST_P(Contract, no_strategy_is_better_than_the_optimum) {
  for (const char* text : {"core:2", "core:3", "core:3 speeds:1,0.5,0.25"}) {
    const Machine machine = machine_from_text(text);
    for (const Tiny& tiny : tiny_problems(machine)) {
      const Problem problem{machine, tiny.workload, tiny.worst, machine.costs(), 9};
      EXPECT_GE(makespan_s(problem, initial().rebalance(problem)), tiny.optimum_s) << text;
    }
  }
}

/// Tests of further properties, which only strategies that start from the current placement have.
class Incremental : public Contract {
 public:
  static std::vector<Strategy> rows() {
    std::vector<Strategy> kept;
    std::copy_if(strategies().begin(), strategies().end(), std::back_inserter(kept),
                 [](const Strategy& row) { return row.is_incremental; });
    return kept;
  }
};

TEST_P(Incremental, an_incremental_strategy_moves_nothing_if_the_current_placement_is_optimal) {
  for (const char* text : {"core:2", "core:3", "core:3 speeds:1,0.5,0.25"}) {
    const Machine machine = machine_from_text(text);
    for (const Tiny& tiny : tiny_problems(machine)) {
      const Problem problem{machine, tiny.workload, tiny.best, machine.costs(), 9};
      EXPECT_EQ(initial().rebalance(problem), tiny.best) << text;
    }
  }
}

TEST_P(Incremental,
       an_incremental_strategy_keeps_a_perfect_balance_and_never_lengthens_the_makespan) {
  for (const char* text : {"core:7", "node:2 numa:2 core:4"}) {
    const Machine machine = machine_from_text(text);
    const Workload equal = tasks_with_loads(std::vector<double>(4 * machine.num_places(), 0.1));
    const Placement even = round_robin(equal.num_tasks(), machine.num_places());
    if (!is_refused(initial(), {machine, equal, even, machine.costs()})) {
      EXPECT_EQ(initial().rebalance({machine, equal, even, machine.costs()}), even);
    }
    for (Situation& now : situations(machine, 4)) {
      SCOPED_TRACE(std::string(text) + ": " + now.name);
      now.workload.messages.clear();
      const Problem problem{machine, now.workload, now.current, machine.costs()};
      if (is_refused(initial(), problem)) continue;
      EXPECT_LE(makespan_s(problem, initial().rebalance(problem)),
                makespan_s(problem, now.current) * (1 + 1e-12));
    }
  }
}

std::string name_of(const testing::TestParamInfo<Strategy>& row) {
  return std::string(row.param.name);
}
INSTANTIATE_TEST_SUITE_P(, Contract, testing::ValuesIn(strategies().begin(), strategies().end()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(, Incremental, testing::ValuesIn(Incremental::rows()), name_of);

TEST(ContractOfGreedy, the_makespan_of_greedy_stays_within_grahams_bounds) {
  for (const char* text : {"core:1", "core:2", "core:3"}) {
    const Machine machine = machine_from_text(text);
    const double ratio = 4.0 / 3 - 1.0 / (3 * machine.num_places());
    for (const Tiny& tiny : tiny_problems(machine)) {
      const Problem problem{machine, tiny.workload, tiny.worst, machine.costs()};
      const double time_s = makespan_s(problem, parse_strategy("greedy").rebalance(problem));
      EXPECT_LE(time_s, ratio * tiny.optimum_s * (1 + 1e-12)) << text;
      EXPECT_LE(time_s, list_bound_s(problem) * (1 + 1e-12)) << text;
    }
  }
}

TEST(ContractOfKeep, the_strategy_keep_returns_the_current_placement) {
  for (const char* text : kMachines) {
    const Machine machine = machine_from_text(text);
    for (const Situation& now : situations(machine, 5)) {
      const Problem problem{machine, now.workload, now.current, machine.costs()};
      EXPECT_EQ(parse_strategy("keep").rebalance(problem), now.current);
    }
  }
}

}  // namespace
}  // namespace poise
