// SPDX-License-Identifier: BSD-3-Clause
// The functions of the C interface that decide: they compute placements, evaluate what placements
// cost, and list the moves between two placements.
#include <algorithm>
#include <utility>

#include "faces/library/arrays.h"
#include "faces/library/moves.h"
#include "faces/library/problem.h"

#include "poise/placement/answer.h"

using poise::library::array;
using poise::library::CheckedProblem;
using poise::library::guarded;
using poise::library::Moves;
using poise::library::required;

namespace {

/// True if a list of moves for `place` includes the move. poise_exports() lists the moves that
/// leave the place, poise_imports() those that come to it.
using Select = bool (*)(std::uint32_t from, std::uint32_t to, std::int64_t place);

int list_moves(const char* function, std::uint64_t num_tasks, const std::uint64_t* global_ids,
               const std::uint32_t* before, const std::uint32_t* after, std::int64_t place,
               const poise_moves** moves, Select select) {
  return guarded(function, [&] {
    const poise_moves*& result = required(moves, "moves");
    poise::library::checked_count(num_tasks, "num_tasks");
    if (place < -1)
      poise::fail("place is {}; it must be the index of a place, or -1 for all places", place);
    const auto old_places = array(before, num_tasks, "before");
    const auto new_places = array(after, num_tasks, "after");
    auto list = std::make_unique<Moves>();
    for (std::uint32_t t = 0; t < num_tasks; ++t) {
      const std::uint32_t from = old_places[t], to = new_places[t];
      if (from == to || (place >= 0 && !select(from, to, place))) continue;
      list->global_id.push_back(global_ids == nullptr ? t : global_ids[t]);
      list->task.push_back(t);
      list->from.push_back(from);
      list->to.push_back(to);
    }
    result = Moves::released(std::move(list));
  });
}

}  // namespace

int poise_plan(const poise_machine* machine, const poise_workload* workload,
               const uint32_t* current, const char* strategy, uint64_t seed,
               uint32_t* place_of_task) {
  return guarded(__func__, [&] {
    const CheckedProblem problem(machine, workload, current, seed);
    std::uint32_t* const result = &required(place_of_task, "place_of_task");
    const std::string_view text = &required(strategy, "strategy");
    const auto contenders = poise::apps::parse_contenders(text, poise::library::exec_limit_s());
    if (contenders.size() != 1)
      poise::fail("\"{}\" is a list of strategies, but only one strategy can be given here", text);
    const poise::Problem view = problem.view();
    const poise::Placement placement = contenders[0].decide(view);
    check_answer(view, placement);
    std::copy(placement.places().begin(), placement.places().end(), result);
  });
}

int poise_evaluate(const poise_machine* machine, const poise_workload* workload,
                   const uint32_t* before, const uint32_t* after, poise_metrics* metrics) {
  return guarded(__func__, [&] {
    poise_metrics& result = required(metrics, "metrics");
    const CheckedProblem problem(machine, workload, before, 0);
    const poise::Problem view = problem.view();
    const poise::Placement placement = poise::library::placement_or_blocks(
        after, view.workload.num_tasks(), view.machine.num_places(), "after");
    check_answer(view, placement);
    result = poise::library::metrics_of(
        evaluate(view.machine, view.workload, view.costs, view.current, placement));
  });
}

int poise_exports(uint64_t num_tasks, const uint64_t* global_ids, const uint32_t* before,
                  const uint32_t* after, int64_t place, const poise_moves** moves) {
  return list_moves(__func__, num_tasks, global_ids, before, after, place, moves,
                    [](std::uint32_t from, std::uint32_t, std::int64_t p) { return from == p; });
}

int poise_imports(uint64_t num_tasks, const uint64_t* global_ids, const uint32_t* before,
                  const uint32_t* after, int64_t place, const poise_moves** moves) {
  return list_moves(__func__, num_tasks, global_ids, before, after, place, moves,
                    [](std::uint32_t, std::uint32_t to, std::int64_t p) { return to == p; });
}

void poise_moves_destroy(const poise_moves* moves) { Moves::destroy(moves); }
