// SPDX-License-Identifier: BSD-3-Clause
// Compares libpoise with the C++ calls that it wraps, also on several threads.
#include <algorithm>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "runtimes/profile/profile_file.h"
#include "runtimes/profile/to_trace.h"
#include "tests/support/random_problem.h"
#include "tests/support/seeds.h"
#include "tests/support/test_folder.h"

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/machine/json.h"
#include "poise/placement/metrics.h"
#include "poise/poise.h"
#include "poise/strategies/strategy.h"
#include "poise/trace/native.h"

namespace poise {
namespace {

struct Handles {
  poise_machine* machine = nullptr;
  poise_workload* workload = nullptr;
  ~Handles() {
    poise_machine_destroy(machine);
    poise_workload_destroy(workload);
  }
};

/// Creates the machine and the workload of `problem` through the C interface, with the messages as
/// a list.
void fill(Handles& handles, const OwnedProblem& problem) {
  const std::string json = machine_to_json(problem.machine);
  ASSERT_EQ(poise_machine_from_json(json.data(), json.size(), &handles.machine), POISE_OK)
      << poise_last_error();
  const std::string formula(name_of(problem.machine.costs().formula));
  ASSERT_EQ(poise_machine_set_model(handles.machine, formula.c_str()), POISE_OK);
  std::vector<double> load_s;
  std::vector<std::uint64_t> sizes, counts, bytes;
  std::vector<std::uint8_t> pinned;
  std::vector<std::uint32_t> from, to;
  for (const Task& task : problem.workload.tasks) {
    load_s.push_back(task.load_s);
    sizes.push_back(task.bytes);
    pinned.push_back(!task.movable);
  }
  for (const Message& message : problem.workload.messages) {
    from.push_back(message.from);
    to.push_back(message.to);
    counts.push_back(message.count);
    bytes.push_back(message.bytes);
  }
  ASSERT_EQ(poise_workload_create(load_s.size(), load_s.data(), &handles.workload), POISE_OK);
  ASSERT_EQ(poise_workload_set_sizes(handles.workload, sizes.data()), POISE_OK);
  ASSERT_EQ(poise_workload_set_pinned(handles.workload, pinned.data()), POISE_OK);
  ASSERT_EQ(poise_workload_set_messages(handles.workload, from.size(), from.data(), to.data(),
                                        counts.data(), bytes.data()),
            POISE_OK);
  const auto& background_s = problem.workload.background_s;
  ASSERT_EQ(
      poise_workload_set_background(handles.workload, background_s.size(), background_s.data()),
      POISE_OK);
}

void expect_same(const Metrics& expected, const poise_metrics& found) {
  EXPECT_EQ(found.iteration_s, expected.iteration_s);
  EXPECT_EQ(found.makespan_s, expected.makespan_s);
  EXPECT_EQ(found.makespan_bound_s, expected.makespan_bound_s);
  EXPECT_EQ(found.average_s, expected.average_s);
  EXPECT_EQ(found.imbalance, expected.imbalance);
  EXPECT_EQ(found.max_comm_s, expected.max_comm_s);
  EXPECT_EQ(found.hop_bytes, expected.hop_bytes);
  EXPECT_EQ(found.internode_bytes, expected.internode_bytes);
  EXPECT_EQ(found.nuco_messages, expected.nuco_messages);
  EXPECT_EQ(found.migrations, expected.migrations);
  EXPECT_EQ(found.migrated_bytes, expected.migrated_bytes);
  EXPECT_EQ(found.migration_s, expected.migration_s);
}

/// True if the machine can be written to a machine file and read again. False for some random
/// machines, because the reader of machine files refuses their cost factors.
bool can_be_written(const Machine& machine) {
  try {
    machine_from_json(machine_to_json(machine), "random");
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(Library, gives_the_same_decisions_and_metrics_as_the_cpp_interface) {
  std::uint64_t tried = 0;
  for (std::uint64_t seed = 1; seed <= fewer_if_sanitized(80); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const OwnedProblem problem = random_problem(random);
    if (!can_be_written(problem.machine)) continue;
    ++tried;
    Handles handles;
    ASSERT_NO_FATAL_FAILURE(fill(handles, problem));
    const auto now = problem.current.places();
    for (const char* name : {"poise", "greedy", "nuco", "refine_comm", "treematch"}) {
      Problem view = problem.view();
      view.seed = seed;
      const Placement expected = parse_strategy(name).rebalance(view);
      std::vector<PlaceId> found(now.size());
      ASSERT_EQ(poise_plan(handles.machine, handles.workload, now.data(), name, seed, found.data()),
                POISE_OK)
          << poise_last_error();
      EXPECT_EQ(Placement(found), expected) << name;
      poise_metrics metrics{};
      ASSERT_EQ(
          poise_evaluate(handles.machine, handles.workload, now.data(), found.data(), &metrics),
          POISE_OK);
      expect_same(evaluate(problem.machine, problem.workload, problem.machine.costs(),
                           problem.current, expected),
                  metrics);
    }
  }
  EXPECT_GE(tried, fewer_if_sanitized(20));
}

TEST(Library, a_cost_that_the_machine_does_not_specify_can_be_set) {
  Handles handles;
  ASSERT_EQ(poise_machine_create("node:2 core:2", &handles.machine), POISE_OK);
  for (const char* name : {"shared_network_bytes_per_s", "card_s_per_message"}) {
    EXPECT_EQ(poise_machine_set_cost(handles.machine, name, 0.25e9), POISE_OK)
        << poise_last_error();
    const char* json = nullptr;
    ASSERT_EQ(poise_machine_json(handles.machine, &json), POISE_OK);
    EXPECT_EQ(nlohmann::json::parse(json)["costs"][name], 0.25e9);
  }
  EXPECT_EQ(poise_machine_set_cost(handles.machine, "send_s", 1), POISE_BAD_INPUT);
  EXPECT_NE(std::string(poise_last_error()).find("shared_network_bytes_per_s"), std::string::npos);
}

TEST(Library, the_json_of_a_machine_stays_valid_until_the_machine_is_changed) {
  Handles handles;
  ASSERT_EQ(poise_machine_create("node:2 core:2", &handles.machine), POISE_OK);
  const char *first = nullptr, *second = nullptr;
  ASSERT_EQ(poise_machine_json(handles.machine, &first), POISE_OK);
  ASSERT_EQ(poise_machine_json(handles.machine, &second), POISE_OK);
  EXPECT_EQ(first, second);
}

TEST(Library, messages_given_in_csr_form_or_as_a_list_give_the_same_workload) {
  const double load_s[] = {1, 1, 1};
  const std::uint64_t indptr[] = {0, 2, 2, 3}, bytes[] = {5, 6, 7};
  const std::uint32_t from[] = {0, 0, 2}, to[] = {1, 2, 0};
  Handles csr, list;
  ASSERT_EQ(poise_workload_create(3, load_s, &csr.workload), POISE_OK);
  ASSERT_EQ(poise_workload_create(3, load_s, &list.workload), POISE_OK);
  ASSERT_EQ(poise_workload_set_messages_csr(csr.workload, indptr, to, nullptr, bytes), POISE_OK);
  ASSERT_EQ(poise_workload_set_messages(list.workload, 3, from, to, nullptr, bytes), POISE_OK);
  for (const poise_workload* workload : {csr.workload, list.workload}) {
    poise_arrays* arrays = nullptr;
    ASSERT_EQ(poise_arrays_create(nullptr, workload, nullptr, 0, &arrays), POISE_OK);
    const poise_problem& problem = *poise_arrays_problem(arrays);
    EXPECT_EQ(std::vector(problem.indptr, problem.indptr + 4), std::vector(indptr, indptr + 4));
    EXPECT_EQ(std::vector(problem.indices, problem.indices + 3), std::vector(to, to + 3));
    EXPECT_EQ(std::vector(problem.bytes, problem.bytes + 3), std::vector(bytes, bytes + 3));
    EXPECT_EQ(problem.counts[2], 1);
    EXPECT_EQ(problem.num_places, 0);
    poise_arrays_destroy(arrays);
  }
}

TEST(Library, an_error_names_the_index_of_a_wrong_message_and_the_workload_stays_unchanged) {
  constexpr std::uint32_t kTasks = 3000;  // more than the library checks in one block of the array
  std::vector<std::uint64_t> indptr(kTasks + 1), bytes(2 * kTasks, 8), huge = bytes;
  std::vector<std::uint32_t> from(2 * kTasks), to(2 * kTasks);
  for (std::uint32_t i = 0; i < 2 * kTasks; ++i) from[i] = i / 2, to[i] = i % kTasks;
  for (std::uint32_t t = 0; t <= kTasks; ++t) indptr[t] = std::uint64_t{2} * t;
  Handles handles;
  const std::vector<double> load_s(kTasks, 1);
  ASSERT_EQ(poise_workload_create(kTasks, load_s.data(), &handles.workload), POISE_OK);
  ASSERT_EQ(poise_workload_set_messages_csr(handles.workload, indptr.data(), to.data(), nullptr,
                                            bytes.data()),
            POISE_OK);
  huge[5000] = std::uint64_t{1} << 53;
  to[5999] = kTasks;
  const auto expect_refused = [&](int result, const char* why) {
    EXPECT_EQ(result, POISE_BAD_INPUT);
    EXPECT_THAT(poise_last_error(), testing::HasSubstr(why));
  };
  for (const bool is_csr : {true, false}) {
    const auto set = [&](const std::uint64_t* counts, const std::uint64_t* sizes) {
      if (is_csr)
        return poise_workload_set_messages_csr(handles.workload, indptr.data(), to.data(), counts,
                                               sizes);
      return poise_workload_set_messages(handles.workload, 2 * kTasks, from.data(), to.data(),
                                         counts, sizes);
    };
    expect_refused(set(nullptr, bytes.data()), "[5999] is 3000");
    to[5999] = 0;
    expect_refused(set(nullptr, huge.data()), "number of bytes of messages exceeds the limit");
    expect_refused(set(huge.data(), nullptr), "number of messages exceeds the limit");
    to[5999] = kTasks;
  }
  poise_arrays* arrays = nullptr;
  ASSERT_EQ(poise_arrays_create(nullptr, handles.workload, nullptr, 0, &arrays), POISE_OK);
  const poise_problem& problem = *poise_arrays_problem(arrays);
  EXPECT_EQ(std::vector(problem.bytes, problem.bytes + 2 * kTasks), bytes);
  EXPECT_EQ(problem.indices[5999], kTasks - 1);
  poise_arrays_destroy(arrays);
}

TEST(Library, an_error_names_the_index_of_a_number_above_its_limit) {
  constexpr std::uint64_t kNegative = -1;  // what a caller's -1 becomes
  const double load_s[] = {1, 1}, huge_s[] = {1, 1e16};
  const std::uint64_t numbers[] = {1, kNegative}, indptr[] = {0, 1, 2},
                      too_long[] = {0, 1, kNegative};
  const std::uint32_t from[] = {0, 1}, to[] = {1, 0};
  Handles handles;
  const auto expect_refused = [&](int result, const char* why) {
    EXPECT_EQ(result, POISE_BAD_INPUT);
    EXPECT_THAT(poise_last_error(), testing::HasSubstr(why));
  };
  expect_refused(poise_workload_create(2, huge_s, &handles.workload),
                 "load_s[1] is 1e+16; it must be from 0 to 1e15");
  ASSERT_EQ(poise_workload_create(2, load_s, &handles.workload), POISE_OK);
  poise_workload* const w = handles.workload;
  expect_refused(poise_workload_add_past_loads(w, huge_s), "load_s[1] is 1e+16");
  expect_refused(poise_workload_set_sizes(w, numbers),
                 "bytes[1] is 18446744073709551615; it must be at most 2^53");
  expect_refused(poise_workload_set_place_bytes(w, 2, numbers), "bytes[1] is 18446744073709551615");
  expect_refused(poise_workload_set_messages_csr(w, indptr, to, nullptr, numbers),
                 "bytes[1] is 18446744073709551615");
  expect_refused(poise_workload_set_messages(w, 2, from, to, numbers, nullptr),
                 "counts[1] is 18446744073709551615");
  expect_refused(poise_workload_set_messages_csr(w, too_long, to, nullptr, nullptr),
                 "the last entry of indptr is 18446744073709551615; it must be at most 2^40");
  expect_refused(poise_workload_set_messages(w, kNegative, from, to, nullptr, nullptr),
                 "num_messages is 18446744073709551615; it must be at most 2^40");
}

TEST(Library,
     speeds_per_kind_of_work_are_refused_if_they_are_for_more_places_than_the_machine_has) {
  const double load_s[] = {1, 1}, kinds_s[] = {1, 1, 1, 1}, speeds[] = {1, 1, 1, 1, 1, 1};
  std::uint32_t places[2];
  Handles handles;
  ASSERT_EQ(poise_machine_create("core:2", &handles.machine), POISE_OK);
  ASSERT_EQ(poise_workload_create(2, load_s, &handles.workload), POISE_OK);
  ASSERT_EQ(poise_workload_set_kinds(handles.workload, 2, kinds_s, 3, speeds), POISE_OK);
  EXPECT_EQ(poise_plan(handles.machine, handles.workload, nullptr, "poise", 0, places),
            POISE_BAD_INPUT);
  EXPECT_THAT(poise_last_error(),
              testing::HasSubstr("there are 6 speeds, but there must be 4: one for each of the 2 "
                                 "places and each of the 2 subphases or kinds of work"));
}

TEST(Library, all_columns_of_a_workload_are_returned_as_arrays) {
  const double load_s[] = {1, 2}, position[] = {1, 2, 3, 4}, parts_s[] = {0.5, 0.5, 0, 2},
               past_s[] = {3, 4};
  const std::uint64_t footprint[] = {7, 8}, working[] = {9, 10}, blocks[] = {11},
                      place_bytes[] = {12, 13, 14};
  const std::int32_t shared[] = {0, -1};
  Handles handles;
  ASSERT_EQ(poise_workload_create(2, load_s, &handles.workload), POISE_OK);
  ASSERT_EQ(poise_workload_set_positions(handles.workload, 2, position), POISE_OK);
  ASSERT_EQ(poise_workload_set_subphases(handles.workload, 2, parts_s), POISE_OK);
  ASSERT_EQ(poise_workload_set_memory(handles.workload, footprint, working, shared, 1, blocks),
            POISE_OK);
  ASSERT_EQ(poise_workload_set_place_bytes(handles.workload, 3, place_bytes), POISE_OK);
  ASSERT_EQ(poise_workload_set_communication(handles.workload, "send", 0.25), POISE_OK);
  ASSERT_EQ(poise_workload_add_past_loads(handles.workload, past_s), POISE_OK);
  poise_arrays* arrays = nullptr;
  ASSERT_EQ(poise_arrays_create(nullptr, handles.workload, nullptr, 0, &arrays), POISE_OK);
  const poise_problem& p = *poise_arrays_problem(arrays);
  EXPECT_EQ(std::vector(p.position, p.position + 6), (std::vector<double>{1, 2, 0, 3, 4, 0}));
  EXPECT_EQ(std::vector(p.subphase_load_s, p.subphase_load_s + 4),
            std::vector(parts_s, parts_s + 4));
  EXPECT_EQ(p.footprint_bytes[1], 8);
  EXPECT_EQ(p.working_bytes[1], 10);
  EXPECT_EQ(p.shared_block[1], -1);
  EXPECT_EQ(p.shared_block_bytes[0], 11);
  EXPECT_EQ(p.place_bytes[2], 14);
  EXPECT_EQ(p.past_loads_s[1], 4);
  EXPECT_EQ(p.loads_include, 1);
  EXPECT_EQ(p.overlap, 0.25);
  EXPECT_EQ(p.subphase_rule, 1);
  poise_arrays_destroy(arrays);
}

TEST(Library, arrays_with_one_entry_per_place_are_refused_if_their_lengths_differ) {
  const double load_s[] = {1}, background_s[] = {0, 1};
  const std::uint64_t place_bytes[] = {1, 2, 3};
  Handles handles;
  ASSERT_EQ(poise_machine_create("core:3", &handles.machine), POISE_OK);
  ASSERT_EQ(poise_workload_create(1, load_s, &handles.workload), POISE_OK);
  ASSERT_EQ(poise_workload_set_background(handles.workload, 2, background_s), POISE_OK);
  poise_arrays* arrays = nullptr;
  EXPECT_EQ(poise_arrays_create(handles.machine, handles.workload, nullptr, 0, &arrays),
            POISE_BAD_INPUT);
  EXPECT_THAT(poise_last_error(),
              testing::HasSubstr("background_s has 2 entries, but there are 3 places"));
  ASSERT_EQ(poise_workload_set_place_bytes(handles.workload, 3, place_bytes), POISE_OK);
  EXPECT_EQ(poise_arrays_create(nullptr, handles.workload, nullptr, 0, &arrays), POISE_BAD_INPUT);
  EXPECT_EQ(arrays, nullptr);
}

TEST(Library, plans_respect_capacities_and_balance_each_kind_of_work) {
  const double load_s[] = {2, 2, 2, 2}, kinds_s[] = {1, 0, 1, 0, 0, 1, 0, 1};
  const std::uint32_t current[] = {0, 0, 1, 1}, of_places[] = {3, 1};
  Handles handles;
  ASSERT_EQ(poise_machine_create("core:2", &handles.machine), POISE_OK);
  ASSERT_EQ(poise_workload_create(4, load_s, &handles.workload), POISE_OK);
  ASSERT_EQ(poise_workload_set_kinds(handles.workload, 2, kinds_s, 0, nullptr), POISE_OK);
  std::vector<std::uint32_t> places(4);
  ASSERT_EQ(poise_plan(handles.machine, handles.workload, current, "poise", 0, places.data()),
            POISE_OK);
  EXPECT_NE(places[0], places[1]);  // tasks 0 and 1 have all work of the first kind
  EXPECT_NE(places[2], places[3]);
  ASSERT_EQ(poise_workload_set_capacity(handles.workload, 0, nullptr, 2, of_places, 0, nullptr),
            POISE_OK);
  for (const char* strategy : {"poise", "greedy", "keep"}) {
    ASSERT_EQ(poise_plan(handles.machine, handles.workload, current, strategy, 0, places.data()),
              POISE_OK);
    EXPECT_EQ(std::count(places.begin(), places.end(), 1u), 1) << strategy;
  }
  EXPECT_EQ(poise_workload_set_capacity(handles.workload, 1, nullptr, 0, nullptr, 0, nullptr),
            POISE_OK);
  EXPECT_NE(poise_plan(handles.machine, handles.workload, current, "poise", 0, places.data()),
            POISE_OK);
  EXPECT_THAT(poise_last_error(), testing::HasSubstr("there are 4 tasks"));
}

TEST(Library, errors_do_not_tell_callers_to_give_options_of_the_program_poise) {
  const double load_s[] = {1, 1, 1};
  std::uint32_t places[3];
  Handles handles;
  ASSERT_EQ(poise_machine_create("core:2", &handles.machine), POISE_OK);
  ASSERT_EQ(poise_workload_create(3, load_s, &handles.workload), POISE_OK);
  EXPECT_EQ(poise_map(handles.machine, handles.workload, nullptr, "hops", 1, 1, 0, places),
            POISE_BAD_INPUT);
  EXPECT_THAT(poise_last_error(), testing::HasSubstr("ranks_per_place in libpoise"));
  const auto expect_no_option = [](int status, const char* about) {
    EXPECT_EQ(status, POISE_BAD_INPUT);
    EXPECT_THAT(poise_last_error(),
                testing::AllOf(testing::HasSubstr(about), testing::Not(testing::HasSubstr("--"))));
  };
  ASSERT_EQ(poise_workload_set_capacity(handles.workload, 2, nullptr, 0, nullptr, 0, nullptr),
            POISE_OK);
  expect_no_option(poise_plan(handles.machine, handles.workload, nullptr, "optimal", 0, places),
                   "capacities");
  poise_trace* trace = nullptr;
  ASSERT_EQ(poise_trace_create(2, handles.machine, &trace), POISE_OK);
  for (const std::uint64_t id : {0, 1})
    ASSERT_EQ(poise_trace_add_phase(trace, id, 0, handles.workload, nullptr), POISE_OK);
  expect_no_option(poise_trace_write(trace, "t.graph", "metis"), "only one phase");
  expect_no_option(poise_trace_write(trace, "t.json", "vt"), "give a placement");
  poise_trace_destroy(trace);
}

TEST(Library, capacities_of_fewer_or_more_memory_domains_than_the_machine_has_are_refused) {
  const std::vector<double> load_s(64, 1);
  const std::vector<std::uint32_t> of_domains(65, 64);
  Handles handles;
  ASSERT_EQ(poise_machine_create("node:8 numa:8 core:2", &handles.machine), POISE_OK);
  ASSERT_EQ(poise_workload_create(64, load_s.data(), &handles.workload), POISE_OK);
  poise_trace* trace = nullptr;
  std::vector<std::uint32_t> places(64);
  for (const std::uint64_t num_domains : {1, 63, 65, 64}) {
    ASSERT_EQ(poise_workload_set_capacity(handles.workload, 0, nullptr, 0, nullptr, num_domains,
                                          of_domains.data()),
              POISE_OK);
    const int expected = num_domains == 64 ? POISE_OK : POISE_BAD_INPUT;
    EXPECT_EQ(poise_plan(handles.machine, handles.workload, nullptr, "greedy", 0, places.data()),
              expected);
    ASSERT_EQ(poise_trace_create(128, handles.machine, &trace), POISE_OK);
    ASSERT_EQ(poise_trace_add_phase(trace, 0, 0, handles.workload, nullptr), POISE_OK);
    poise_simulation* simulation = nullptr;
    EXPECT_EQ(poise_simulate(handles.machine, trace, nullptr, "greedy", nullptr, 0, 2, 1, 0, 0,
                             nullptr, nullptr, &simulation),
              expected);
    if (expected != POISE_OK) {
      EXPECT_THAT(poise_last_error(), testing::HasSubstr("the machine has 64 memory domains"));
    }
    poise_simulation_destroy(simulation);
    poise_trace_destroy(trace);
  }
}

/// Writes the profile of a run in which rank 0 works twice as long as rank 1.
void write_profile(const std::string& path) {
  std::vector<profile::RankProfile> ranks;
  std::string blocks(profile::kMagic);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    profile::Phase phase;
    phase.end_ns = 1'000'000'000;
    phase.totals.useful_ns = phase.useful_cpu_ns = phase.end_ns / (1 + rank);
    ranks.push_back({.rank = rank, .num_ranks = 2, .host = "a", .phases = {phase}});
    blocks += profile::encode(ranks.back());
  }
  const Trace trace = profile::trace_of(ranks, nullptr, nullptr);
  write_file(path, native::write(trace, {{"prof", blocks}}));
}

TEST(Library, diagnoses_a_profile_as_json_and_names_a_damaged_file_in_the_error) {
  const TestFolder folder;
  const std::string path = folder.file("library_profile.poise");
  write_profile(path);
  const char* json = nullptr;
  ASSERT_EQ(poise_diagnose(path.c_str(), &json), POISE_OK) << poise_last_error();
  EXPECT_THAT(json, testing::HasSubstr("\"load_balance\": 0.75"));
  write_file(path, "POISE");
  EXPECT_EQ(poise_diagnose(path.c_str(), &json), POISE_BAD_INPUT);
  EXPECT_THAT(poise_last_error(), testing::HasSubstr("library_profile.poise"));
}

#if POISE_ASSERTIONS >= 1
/// While poise_compare() uses the workload, its callback calls functions that read or change the
/// workload, on the same thread and on another one. These are the results of the calls.
struct Meanwhile {
  poise_workload* workload;
  int read = POISE_FAILED, change = POISE_OK, change_of_same_thread = POISE_OK;
  std::string error = {};
};

int use_meanwhile(void* argument, std::uint64_t, std::uint64_t, const char*) {
  Meanwhile& seen = *static_cast<Meanwhile*>(argument);
  const std::uint64_t sizes[] = {1, 2, 3};
  seen.change_of_same_thread = poise_workload_set_sizes(seen.workload, sizes);
  std::thread([&seen, &sizes] {
    seen.change = poise_workload_set_sizes(seen.workload, sizes);
    seen.error = poise_last_error();
    poise_arrays* arrays = nullptr;
    seen.read = poise_arrays_create(nullptr, seen.workload, nullptr, 0, &arrays);
    poise_arrays_destroy(arrays);
  }).join();
  return 0;
}

TEST(Library, in_builds_with_assertions_a_handle_in_use_by_another_call_cannot_be_changed) {
  const double load_s[] = {1, 2, 3};
  const std::uint64_t sizes[] = {1, 2, 3};
  Handles handles;
  ASSERT_EQ(poise_machine_create("core:2", &handles.machine), POISE_OK);
  ASSERT_EQ(poise_workload_create(3, load_s, &handles.workload), POISE_OK);
  Meanwhile seen{handles.workload};
  poise_comparison* comparison = nullptr;
  ASSERT_EQ(poise_compare(handles.machine, handles.workload, nullptr, "greedy", nullptr, 0, 0,
                          use_meanwhile, &seen, &comparison),
            POISE_OK)
      << poise_last_error();
  EXPECT_EQ(seen.read, POISE_OK);
  EXPECT_EQ(seen.change, POISE_BAD_INPUT);
  EXPECT_EQ(seen.change_of_same_thread, POISE_BAD_INPUT);
  EXPECT_THAT(seen.error, testing::HasSubstr("workload is in use by another call"));
  EXPECT_EQ(poise_workload_set_sizes(handles.workload, sizes), POISE_OK);  // after the comparison
  EXPECT_DEATH(poise_comparison_destroy(reinterpret_cast<poise_comparison*>(handles.machine)),
               "is_right");
  poise_comparison_destroy(comparison);
}
#endif

TEST(Library, running_an_external_strategy_program_changes_no_signal_handling) {
  std::signal(SIGPIPE, SIG_DFL);
  // The strategy program reports by its placement what the library changed: place 1 if its parent
  // process, which called the library, ignores SIGPIPE (signal 13); place 2 if the program itself
  // was started with this signal blocked; else place 0.
  const TestFolder folder;
  const std::string path = folder.file("signals.sh");
  write_file(path, R"(has() {
  case $(grep "^$1" "/proc/$2/status") in *[13579bdf]???) ;; *) false ;; esac
}
if has SigIgn $PPID; then echo 1; elif has SigBlk $$; then echo 2; else echo 0; fi
)");
  const double load_s = 1;
  std::uint32_t place = 3;
  Handles handles;
  ASSERT_EQ(poise_machine_create("core:3", &handles.machine), POISE_OK);
  ASSERT_EQ(poise_workload_create(1, &load_s, &handles.workload), POISE_OK);
  EXPECT_EQ(poise_plan(handles.machine, handles.workload, nullptr, ("exec:sh " + path).c_str(), 0,
                       &place),
            POISE_OK)
      << poise_last_error();
  EXPECT_EQ(place, 0u);
}

TEST(Library, each_thread_has_its_own_last_error_and_several_threads_may_use_the_same_handles) {
  Random random(3);
  const OwnedProblem problem = random_problem(random);
  Handles handles;
  ASSERT_NO_FATAL_FAILURE(fill(handles, problem));
  const auto now = problem.current.places();
  std::vector<std::vector<PlaceId>> found(4, std::vector<PlaceId>(now.size()));
  std::vector<std::string> errors(found.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < found.size(); ++i)
      threads.emplace_back([&, i] {
        const std::string unknown = "none" + std::to_string(i);
        poise_plan(handles.machine, handles.workload, now.data(), unknown.c_str(), 0,
                   found[i].data());
        poise_plan(handles.machine, handles.workload, now.data(), "poise", 0, found[i].data());
        errors[i] = poise_last_error();
      });
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i], found[0]);
    EXPECT_NE(errors[i].find("none" + std::to_string(i)), std::string::npos) << errors[i];
  }
}

}  // namespace
}  // namespace poise
