// SPDX-License-Identifier: BSD-3-Clause
// Implements poise_plan_distributed(), by which all ranks decide together.
#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "faces/library/arrays.h"
#include "faces/library/handles.h"
#include "faces/library/moves.h"

#include "poise/distributed/plan.h"

namespace {

using poise::library::array;
using poise::library::Moves;
using poise::library::required;

template <typename T>
std::span<const T> optional_array(const T* data, std::uint64_t size) {
  return {data, data == nullptr ? 0 : size};
}

poise::OwnTasks own_tasks(const poise_own_tasks& own) {
  const std::uint64_t n = poise::library::checked_count(own.num_tasks, "num_tasks");
  if (n > 0 && own.indptr == nullptr && own.neighbours != nullptr)
    poise::fail("indptr is null, but neighbours is not null; give both arrays, or neither");
  const auto indptr = optional_array(own.indptr, n + 1);
  const std::uint64_t edges = indptr.empty() ? 0
                                             : poise::library::checked_num_messages(
                                                   indptr.back(), "the last entry of indptr");
  return {.ids = array(own.global_ids, n, "global_ids"),
          .load_s = array(own.load_s, n, "load_s"),
          .bytes = optional_array(own.bytes, n),
          .pinned = optional_array(own.pinned, n),
          .first = indptr,
          .to = array(own.neighbours, edges, "neighbours"),
          .to_rank = optional_array(own.neighbour_ranks, edges),
          .counts = optional_array(own.counts, edges),
          .message_bytes = optional_array(own.message_bytes, edges),
          .background_s = own.background_s};
}

std::unique_ptr<Moves> exports_of(const poise::OwnTasks& own, const poise::DistributedPlan& plan,
                                  std::uint32_t rank) {
  auto list = std::make_unique<Moves>();
  for (std::uint32_t t = 0; t < own.num_tasks(); ++t) {
    if (plan.rank_of_task[t] == rank) continue;
    list->global_id.push_back(own.ids[t]);
    list->task.push_back(t);
    list->from.push_back(rank);
    list->to.push_back(plan.rank_of_task[t]);
  }
  return list;
}

std::unique_ptr<Moves> imports_of(const poise::DistributedPlan& plan, std::uint32_t rank) {
  auto list = std::make_unique<Moves>();
  for (const poise::Arrival& arrival : plan.imports) {
    list->global_id.push_back(arrival.id);
    list->from.push_back(arrival.from);
    list->to.push_back(rank);
  }
  return list;
}

}  // namespace

int poise_plan_distributed(const poise_communication* ranks, const poise_machine* machine,
                           const poise_own_tasks* own, const char* strategy, uint64_t seed,
                           uint32_t* rank_of_task, const poise_moves** exports,
                           const poise_moves** imports) {
  return poise::library::guarded(__func__, [&] {
    poise::Communicator communicator(required(ranks, "ranks"));
    std::unique_ptr<Moves> leaving, coming;
    poise::DistributedPlan plan;
    poise::agreed(communicator, [&] {
      const poise::OwnTasks tasks = own_tasks(required(own, "own"));
      const std::string_view text = &required(strategy, "strategy");
      plan =
          poise::plan_distributed(communicator, poise::library::checked(machine, "machine").machine,
                                  tasks, poise::parse_strategy(text), seed);
      leaving = exports_of(tasks, plan, ranks->rank);
      coming = imports_of(plan, ranks->rank);
    });
    if (rank_of_task != nullptr)
      std::copy(plan.rank_of_task.begin(), plan.rank_of_task.end(), rank_of_task);
    if (exports != nullptr) *exports = Moves::released(std::move(leaving));
    if (imports != nullptr) *imports = Moves::released(std::move(coming));
  });
}
