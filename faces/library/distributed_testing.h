// SPDX-License-Identifier: BSD-3-Clause
// Helpers for tests that split a problem over ranks and let the C interface decide on it.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "poise/distributed/split_testing.h"
#include "poise/poise.h"

namespace poise::library {

inline poise_own_tasks c_view(const OwnArrays& own, bool knows_ranks) {
  return {.num_tasks = own.ids.size(),
          .global_ids = own.ids.data(),
          .load_s = own.load_s.data(),
          .bytes = own.bytes.data(),
          .pinned = own.pinned.data(),
          .indptr = own.first.data(),
          .neighbours = own.to.data(),
          .neighbour_ranks = knows_ranks ? own.to_rank.data() : nullptr,
          .counts = own.counts.data(),
          .message_bytes = own.message_bytes.data(),
          .background_s = own.background_s};
}

/// The lists that one rank got from the library. Each entry of `exports` and `imports` is (global
/// id of a task, rank that it leaves, rank to which it goes).
struct Told {
  using List = std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>>;
  int code = POISE_OK;
  std::string error;
  std::vector<std::uint32_t> rank_of_task;
  List exports, imports;
  friend bool operator==(const Told&, const Told&) = default;
};

inline Told::List taken(const poise_moves* moves) {
  Told::List list;
  for (std::uint64_t i = 0; moves != nullptr && i < moves->count; ++i)
    list.emplace_back(moves->global_id[i], moves->from[i], moves->to[i]);
  poise_moves_destroy(moves);
  return list;
}

inline Told plan_in_c(const poise_communication& ranks, const poise_machine* machine,
                      const poise_own_tasks& own, std::uint64_t num_written) {
  Told told;
  told.rank_of_task.resize(num_written, ~0U);
  const poise_moves *exports = nullptr, *imports = nullptr;
  told.code = poise_plan_distributed(&ranks, machine, &own, "poise", 0, told.rank_of_task.data(),
                                     &exports, &imports);
  if (told.code != POISE_OK) told.error = poise_last_error();
  told.exports = taken(exports);
  told.imports = taken(imports);
  return told;
}

/// Calls poise_plan_distributed() on every simulated rank. Returns the lists that each rank got.
inline std::vector<Told> plan_in_c(SimulatedRanks& simulated, const poise_machine* machine,
                                   const std::vector<OwnArrays>& own, bool knows_ranks) {
  std::vector<Told> told(own.size());
  simulated.run([&](const poise_communication& ranks) {
    const OwnArrays& mine = own[ranks.rank];
    told[ranks.rank] = plan_in_c(ranks, machine, c_view(mine, knows_ranks), mine.ids.size());
  });
  return told;
}

}  // namespace poise::library
