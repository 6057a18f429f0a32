// SPDX-License-Identifier: BSD-3-Clause
// Tests decisions that all ranks make together through the C interface. The ranks are simulated.
#include <algorithm>
#include <gmock/gmock.h>
#include <memory>

#include "faces/library/distributed_testing.h"
#include "tests/support/random_problem.h"
#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/workload/generate.h"

namespace poise::library {
namespace {

using testing::HasSubstr;

constexpr const char* kMachine = "node:2 core:3";

using Handle = std::unique_ptr<poise_machine, decltype(&poise_machine_destroy)>;

Handle machine_of(const char* text) {
  poise_machine* machine = nullptr;
  EXPECT_EQ(poise_machine_create(text, &machine), POISE_OK) << poise_last_error();
  return {machine, &poise_machine_destroy};
}

std::vector<OwnArrays> arrays(std::uint64_t seed) {
  Random random(seed);
  const OwnedProblem problem = random_problem(machine_from_text(kMachine), random);
  return split(problem.view());
}

/// Changes an entry of one rank's arrays so that it is wrong or unusual. The library must either
/// accept or refuse the arrays, but not crash.
void spoil(OwnArrays& own, Random& random) {
  const auto any = [&](auto& list) -> auto& {
    if (list.empty()) list.push_back({});
    return list[random.below(static_cast<std::uint32_t>(list.size()))];
  };
  switch (random.below(8)) {
    case 0: any(own.load_s) = random.below(2) == 0 ? -1 : std::nan(""); break;
    case 1: any(own.bytes) = ~std::uint64_t{0}; break;
    case 2: any(own.first) = random.below(8); break;
    case 3: any(own.to) = random.below(1000); break;  // most likely, no task has this id
    case 4: any(own.to_rank) = random.below(9); break;
    case 5: any(own.ids) = id_of(random.below(9)); break;  // perhaps another task's
    case 6: any(own.counts) = std::uint64_t{1} << random.below(64); break;
    default: own.background_s = random.below(2) == 0 ? -1 : 1e9;
  }
}

void expect_agreement(const std::vector<Told>& told) {
  for (const Told& one : told) {
    EXPECT_EQ(one.code, told[0].code) << one.error << " / " << told[0].error;
    EXPECT_EQ(one.error.empty(), one.code == POISE_OK);
    if (one.code == POISE_OK) continue;
    EXPECT_EQ(one.code, POISE_BAD_INPUT) << one.error;
    EXPECT_TRUE(one.exports.empty() && one.imports.empty());
    for (const std::uint32_t rank : one.rank_of_task) EXPECT_EQ(rank, ~0U) << "written to";
  }
}

/// Checks that the exports of all ranks together equal the imports of all ranks together. On each
/// rank, the number of exports must be the number of tasks whose rank_of_task is another rank.
void expect_conservation(const std::vector<Told>& told, const std::vector<OwnArrays>& own) {
  Told::List exports, imports;
  for (std::size_t rank = 0; rank < told.size(); ++rank) {
    std::size_t num_leaving = 0;
    for (std::size_t t = 0; t < own[rank].ids.size(); ++t) {
      ASSERT_LT(told[rank].rank_of_task[t], told.size());
      num_leaving += told[rank].rank_of_task[t] != rank ? 1 : 0;
    }
    EXPECT_EQ(num_leaving, told[rank].exports.size());
    exports.insert(exports.end(), told[rank].exports.begin(), told[rank].exports.end());
    imports.insert(imports.end(), told[rank].imports.begin(), told[rank].imports.end());
  }
  std::sort(exports.begin(), exports.end());
  std::sort(imports.begin(), imports.end());
  EXPECT_EQ(exports, imports);
}

TEST(DistributedInC, gives_the_same_plan_as_the_cpp_interface) {
  const Handle machine = machine_of(kMachine);
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const std::vector<OwnArrays> own = arrays(seed);
    SimulatedRanks simulated(6);
    const std::vector<Told> told = plan_in_c(simulated, machine.get(), own, seed % 2 == 0);
    const Outcomes expected = plan_on(
        simulated, with_formula(machine_from_text(kMachine), CostFormula::physical), own, true);
    for (std::size_t rank = 0; rank < own.size(); ++rank) {
      ASSERT_EQ(told[rank].code, POISE_OK) << told[rank].error;
      EXPECT_EQ(told[rank].rank_of_task, expected.plans[rank].rank_of_task);
    }
    expect_conservation(told, own);
  }
}

TEST(DistributedInC, all_ranks_get_the_same_error_code_if_a_communication_call_fails_on_one_rank) {
  const Handle machine = machine_of(kMachine);
  const std::vector<OwnArrays> own = arrays(3);
  SimulatedRanks counting(6);
  EXPECT_EQ(plan_in_c(counting, machine.get(), own, false)[2].code, POISE_OK);
  const std::uint64_t calls = counting.calls(2);
  EXPECT_GT(calls, 10);
  // In each run, another communication call of rank 2 fails. The last call is left out: by it the
  // ranks tell each other that no call has failed, so if it fails on one rank, the other ranks may
  // already have their plans.
  for (std::uint64_t call = 0; call + 1 < calls; ++call) {
    SCOPED_TRACE(call);
    SimulatedRanks simulated(6);
    simulated.fail(2, call);
    const std::vector<Told> told = plan_in_c(simulated, machine.get(), own, false);
    expect_agreement(told);
    EXPECT_EQ(told[2].code, POISE_BAD_INPUT);
    EXPECT_THAT(told[2].error, HasSubstr("returned 5"));
    EXPECT_THAT(told[5].error, HasSubstr("rank 2 failed"));
  }
}

TEST(DistributedInC, all_ranks_get_the_same_result_code_even_if_input_arrays_are_invalid) {
  const Handle machine = machine_of(kMachine);
  constexpr std::uint64_t seeds = fewer_if_sanitized(300);
  std::uint64_t num_refused = 0, num_planned = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<OwnArrays> own = arrays(seed);
    for (std::uint32_t i = random.below(3); i > 0; --i) spoil(own[random.below(6)], random);
    for (OwnArrays& rank : own) {  // gives each array the length that the library assumes
      const std::size_t n = std::max(rank.ids.size(), rank.load_s.size());
      rank.ids.resize(n), rank.load_s.resize(n), rank.bytes.resize(n), rank.pinned.resize(n);
      rank.first.resize(n + 1, rank.first.back());
      const std::size_t edges = std::max(rank.to.size(), std::size_t{rank.first.back()});
      rank.to.resize(edges), rank.to_rank.resize(edges);
      rank.counts.resize(edges), rank.message_bytes.resize(edges);
    }
    SimulatedRanks simulated(6);
    const std::vector<Told> told = plan_in_c(simulated, machine.get(), own, random.below(2) == 0);
    expect_agreement(told);
    ++(told[0].code == POISE_OK ? num_planned : num_refused);
    if (told[0].code == POISE_OK) expect_conservation(told, own);
  }
  EXPECT_GT(num_refused, seeds / 6);
  EXPECT_GT(num_planned, seeds / 6);
}

TEST(DistributedInC, refuses_more_tasks_than_32_bit_numbers_can_count) {
  const Handle machine = machine_of("core:1");
  SimulatedRanks simulated(1);
  const std::uint64_t id = 0, indptr = 0;
  const double load_s = 1;
  for (const std::uint64_t n : {std::uint64_t{1} << 40, ~std::uint64_t{0}})
    simulated.run([&](const poise_communication& ranks) {
      const poise_own_tasks own{.num_tasks = n,
                                .global_ids = &id,
                                .load_s = &load_s,
                                .bytes = nullptr,
                                .pinned = nullptr,
                                .indptr = &indptr,
                                .neighbours = nullptr,
                                .neighbour_ranks = nullptr,
                                .counts = nullptr,
                                .message_bytes = nullptr,
                                .background_s = 0};
      const Told told = plan_in_c(ranks, machine.get(), own, 0);
      EXPECT_EQ(told.code, POISE_BAD_INPUT);
      EXPECT_THAT(told.error, HasSubstr("num_tasks"));
    });
}

TEST(DistributedInC, refuses_the_array_neighbours_without_the_array_indptr) {
  const Handle machine = machine_of("core:1");
  SimulatedRanks simulated(1);
  OwnArrays own;
  own.ids = own.to = {7};
  own.load_s = {1};
  own.bytes = own.counts = own.message_bytes = {1};
  own.pinned = {0};
  simulated.run([&](const poise_communication& ranks) {
    poise_own_tasks tasks = c_view(own, false);
    tasks.indptr = nullptr;
    const Told told = plan_in_c(ranks, machine.get(), tasks, 1);
    EXPECT_EQ(told.code, POISE_BAD_INPUT);
    EXPECT_THAT(told.error, HasSubstr("indptr is null, but neighbours is not"));
  });
}

TEST(DistributedInC, refuses_a_table_of_communication_functions_in_which_all_pointers_are_null) {
  const Handle machine = machine_of("core:1");
  const poise_communication ranks{nullptr, 0, 1, nullptr, nullptr};
  const Told told = plan_in_c(ranks, machine.get(), poise_own_tasks{}, 0);
  EXPECT_EQ(told.code, POISE_BAD_INPUT);
  EXPECT_THAT(told.error, HasSubstr("must not be null"));
}

}  // namespace
}  // namespace poise::library
