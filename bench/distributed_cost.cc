// SPDX-License-Identifier: BSD-3-Clause
// Usage: distributed_cost RANKS TASKS RECIPE. Measures two decisions about one problem: the first
// by one rank, the second by all ranks together, which are threads here. Prints as JSON the CPU
// times of both decisions, which exclude communication functions, and two ratios: the cost of the
// second placement divided by that of the first, and divided by that of the current placement. The
// cost of a placement is the predicted time of 10 steps plus that of the migrations.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <mutex>
#include <utility>

#include "poise/base/clock.h"
#include "poise/distributed/split_testing.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/workload/generate.h"

namespace poise {
namespace {

/// Wraps the communication functions `ranks`: each call is passed on to them, and its CPU time is
/// added to communication_s.
struct Timed {
  poise_communication ranks;
  double communication_s = 0;
  int collectives = 0;

  template <typename Function>
  int timed(const Function& function) {
    const double start_s = thread_cpu_now_s();
    ++collectives;
    const int status = function();
    communication_s += thread_cpu_now_s() - start_s;
    return status;
  }
  static int exchange(void* self, std::uint64_t n, const std::uint32_t* to, const void* const* data,
                      const std::uint64_t* bytes, poise_receive receive, void* receiver) {
    auto& own = *static_cast<Timed*>(self);
    return own.timed([&] {
      return own.ranks.exchange(own.ranks.context, n, to, data, bytes, receive, receiver);
    });
  }
  static int reduce(void* self, int reduction, std::uint64_t count, std::uint64_t* values) {
    auto& own = *static_cast<Timed*>(self);
    return own.timed([&] { return own.ranks.reduce(own.ranks.context, reduction, count, values); });
  }
  poise_communication table() { return {this, ranks.rank, ranks.num_ranks, exchange, reduce}; }
};

struct Cost {
  double cpu_s = 0, busiest_rank_s = 0;
  Placement after;
  int collectives = 0;  // number of collective operations that each rank calls
};

/// Measures a decision that all ranks make together. The ranks are threads here, and some of them
/// may start more threads, so the CPU time of the whole process is measured.
Cost distributed(const Problem& problem) {
  const std::vector<OwnArrays> own = split(problem);
  SimulatedRanks simulated(problem.machine.num_places());
  Outcomes outcomes{std::vector<DistributedPlan>(own.size()), {}};
  const Choice strategy = parse_strategy("poise");
  std::mutex mutex;
  double communication_s = 0;
  Cost cost;
  const double start_s = process_cpu_now_s();
  simulated.run([&](const poise_communication& table) {
    Timed timed{table};
    Communicator ranks(timed.table());
    const double before_s = thread_cpu_now_s();
    outcomes.plans[table.rank] =
        plan_distributed(ranks, problem.machine, own[table.rank].view(true), strategy, 0);
    const std::scoped_lock lock(mutex);
    communication_s += timed.communication_s;
    cost.collectives = timed.collectives;
    cost.busiest_rank_s =
        std::max(cost.busiest_rank_s, thread_cpu_now_s() - before_s - timed.communication_s);
  });
  cost.cpu_s = process_cpu_now_s() - start_s - communication_s;
  cost.after = placement_of(problem, outcomes);
  return cost;
}

Cost central(const Problem& problem) {
  const double start_s = process_cpu_now_s();
  Placement after = parse_strategy("poise").rebalance(problem);
  const double taken_s = process_cpu_now_s() - start_s;
  return {taken_s, taken_s, std::move(after), 0};
}

double total_s(const Problem& problem, const Placement& after) {
  const Metrics metrics =
      evaluate(problem.machine, problem.workload, problem.machine.costs(), problem.current, after);
  return 10 * metrics.iteration_s + metrics.migration_s;
}

void measure(std::uint32_t num_ranks, std::uint32_t num_tasks, const char* recipe) {
  const Machine machine = with_formula(
      machine_from_text(fmt::format("node:{} core:16", num_ranks / 16)), CostFormula::physical);
  const Workload workload = generate(parse_recipe(recipe), num_tasks, 1)[0];
  const Placement current = blocked(workload.num_tasks(), machine.num_places());
  const Problem problem{machine, workload, current, machine.costs()};
  const Cost one = central(problem), all = distributed(problem);
  fmt::print(
      "{{\"ranks\": {}, \"tasks\": {}, \"recipe\": \"{}\", \"messages\": {}, \"central_cpu_s\": "
      "{:.3f}, \"cpu_s\": {:.3f}, \"busiest_rank_cpu_s\": {:.3f}, \"cost_over_central\": {:.4f}, "
      "\"cost_over_keeping\": {:.4f}, \"collectives\": {}}}\n",
      machine.num_places(), problem.workload.tasks.size(), recipe, problem.workload.messages.size(),
      one.cpu_s, all.cpu_s, all.busiest_rank_s,
      total_s(problem, all.after) / total_s(problem, one.after),
      total_s(problem, all.after) / total_s(problem, problem.current), all.collectives);
}

}  // namespace
}  // namespace poise

int main(int argc, char** argv) {
  if (argc != 4) return fmt::print(stderr, "usage: distributed_cost RANKS TASKS RECIPE\n"), 2;
  poise::measure(std::atoi(argv[1]), std::atoi(argv[2]), argv[3]);
}
