// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/diagnosis_text.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/seeds.h"

#include "poise/diagnosis/planted_testing.h"

namespace poise::apps {
namespace {

using planted::Cause;

constexpr std::size_t kScreenLines = 32;

void expect_one_screen(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::size_t count = 0;
  for (; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_LE(count, kScreenLines) << text;
}

TEST(diagnosis_text, fits_a_screen_of_80_columns) {
  for (const Cause cause :
       {Cause::none, Cause::persistent, Cause::drifting, Cause::random, Cause::mapping,
        Cause::network, Cause::binding, Cause::odd_threads, Cause::crowding})
    for (std::uint64_t seed = 1; seed <= fewer_if_sanitized(3); ++seed) {
      const auto profile = planted::Generator({{cause, 0.4}}, seed).profile();
      const Diagnosis diagnosis = diagnose(profile.run, profile.trace);
      const std::string text = diagnosis_text(profile.run, diagnosis, "run.poise");
      expect_one_screen(text);
      EXPECT_NE(text.find("What would help most"), std::string::npos);
      EXPECT_NE(text.find("Parallel efficiency"), std::string::npos);
    }
}

TEST(diagnosis_text, states_efficiencies_and_late_ranks_and_imbalance_in_text_and_json) {
  MeasuredRun run{.node_of_rank = {0, 0, 1, 1}};
  Trace trace;
  for (std::uint64_t p = 0; p < 10; ++p) {
    MeasuredPhase& phase = run.phases.emplace_back();
    phase.name = p < 5 ? "assemble" : "solve";
    for (std::uint32_t r = 0; r < 4; ++r)
      phase.ranks.push_back(r == 2 ? RankTimes{.wall_s = 2, .useful_s = 2, .load_s = 2}
                                   : RankTimes{.wall_s = 2,
                                               .useful_s = 1,
                                               .load_s = 1,
                                               .waited = {1, 0},
                                               .waited_for = {{2, 1}}});
    Phase& recorded = trace.phases.emplace_back();
    recorded.id = p;
    recorded.placement = Placement(std::vector<PlaceId>{0, 1, 2, 3});
  }
  const Diagnosis diagnosis = diagnose(run, trace);
  const std::string text = diagnosis_text(run, diagnosis, "x.poise");
  EXPECT_NE(text.find("4 ranks on 2 nodes, 10 phases, 20.00 s"), std::string::npos) << text;
  EXPECT_NE(text.find("Parallel efficiency         62.5 %"), std::string::npos) << text;
  EXPECT_NE(text.find("inside nodes            75.0 %"), std::string::npos) << text;
  EXPECT_NE(text.find("Rank 2 made 3 others wait 30.00 s in total."), std::string::npos) << text;
  EXPECT_NE(text.find("persistent"), std::string::npos) << text;
  EXPECT_NE(text.find("solve: 62 % = 62 % load balance x 100 % communication, 10.00 s"),
            std::string::npos)
      << text;
  const auto json = nlohmann::json::parse(diagnosis_json(run, diagnosis));
  EXPECT_DOUBLE_EQ(json["efficiencies"]["parallel"], 0.625);
  EXPECT_EQ(json["imbalance"]["kind"], "persistent");
  EXPECT_EQ(json["late"][0]["rank"], 2);
  EXPECT_EQ(json["advice"][0]["remedy"], "objects");
}

TEST(diagnosis_text, phase_names_are_shown_whole_and_cannot_control_the_terminal) {
  Diagnosis diagnosis;
  diagnosis.advice = {Advice{}};
  diagnosis.named = {{"matrix_assembly_of_cells", {}}, {"a\n\x1b[31m", {}}};
  const std::string text = diagnosis_text({.node_of_rank = {0}}, diagnosis, "x.poise");
  EXPECT_NE(text.find("  matrix_assembly_of_cells: "), std::string::npos) << text;
  EXPECT_NE(text.find("  a\\x0a\\x1b[31m: "), std::string::npos) << text;
}

TEST(diagnosis_text, says_how_much_time_ranks_spent_in_file_functions_of_mpi) {
  MeasuredRun run{.node_of_rank = {0, 0}};
  RankTimes times{.wall_s = 4, .useful_s = 3, .load_s = 3};
  run.phases.emplace_back().ranks = {times, times};
  Trace trace;
  trace.phases.emplace_back().placement = Placement(std::vector<PlaceId>{0, 1});
  EXPECT_EQ(diagnosis_text(run, diagnose(run, trace), "x.poise").find("file"), std::string::npos);
  run.phases[0].ranks[1].io_s = 1;
  const std::string text = diagnosis_text(run, diagnose(run, trace), "x.poise");
  EXPECT_NE(text.find("Ranks spent 12 % of their time in MPI's file functions."), std::string::npos)
      << text;
}

TEST(diagnosis_text, does_not_claim_that_ranks_wait_if_waiting_is_unknown) {
  MeasuredRun run{.node_of_rank = {0, 1}};
  const RankTimes times{.wall_s = 4, .useful_s = 1, .load_s = 1, .waited = {2.9, 0}};
  run.phases.emplace_back().ranks = {times, times};
  Trace trace;
  trace.phases.emplace_back().placement = Placement(std::vector<PlaceId>{0, 1});
  const auto text = [&] { return diagnosis_text(run, diagnose(run, trace), "x.poise"); };
  EXPECT_NE(text().find("Nothing here: ranks wait in turn"), std::string::npos) << text();
  run.knows_waiting = false;
  EXPECT_NE(text().find("Nothing here: ranks wait for each other, or time goes"), std::string::npos)
      << text();
  EXPECT_NE(text().find("lacks some waits\n(docs/profile_how.md, section Waiting, tells why)."),
            std::string::npos)
      << text();
}

TEST(diagnosis_text, of_a_run_that_died_does_not_say_why_ranks_waited_for_a_core) {
  MeasuredRun run{.node_of_rank = {0, 0}, .knows_waiting = false};
  const RankTimes times{.wall_s = 4, .useful_s = 1, .load_s = 1, .queued_s = 2};
  run.phases.emplace_back().ranks = {times, times};
  Trace trace;
  trace.phases.emplace_back().placement = Placement(std::vector<PlaceId>{0, 1});
  const auto text = [&] { return diagnosis_text(run, diagnose(run, trace), "x.poise"); };
  constexpr std::string_view kNotKnown = "Not all ranks came to MPI_Finalize, so it is not known";
  EXPECT_EQ(text().find(kNotKnown), std::string::npos) << text();
  run.knows_threads = false;
  EXPECT_NE(text().find(kNotKnown), std::string::npos) << text();
  EXPECT_NE(text().find("Nothing here: ranks wait for cores."), std::string::npos) << text();
}

TEST(diagnosis_text,
     json_has_no_numbers_for_efficiencies_that_an_incomplete_profile_does_not_give) {
  MeasuredRun run{.node_of_rank = {0, 0}};
  Diagnosis diagnosis;
  diagnosis.named = {{"solve", {}}};
  const auto json = [&] { return nlohmann::json::parse(diagnosis_json(run, diagnosis)); };
  for (const char* key : {"serialisation", "transfer", "transfer_half_width"}) {
    run.knows_waiting = true;
    EXPECT_TRUE(json()["efficiencies"][key].is_number()) << key;
    run.knows_waiting = false;
    EXPECT_TRUE(json()["efficiencies"][key].is_null()) << key;
    EXPECT_TRUE(json()["named"]["solve"][key].is_null()) << key;
  }
  EXPECT_TRUE(json()["efficiencies"]["parallel"].is_number());
}

TEST(diagnosis_text,
     prints_no_interval_after_the_estimated_saving_if_the_half_width_of_the_interval_is_zero) {
  Diagnosis diagnosis;
  diagnosis.whole.run_s = 4;
  Advice advice{.remedy = Remedy::binding, .saved = {.value = 2, .half_width = 0.5}};
  EXPECT_NE(advice_sentence(diagnosis, advice, "x").find("about 2.000 s (+-500.0 ms), 50 %"),
            std::string::npos);
  advice.saved.half_width = 0;
  EXPECT_NE(advice_sentence(diagnosis, advice, "x").find("about 2.000 s, 50 %"), std::string::npos)
      << advice_sentence(diagnosis, advice, "x");
}

TEST(diagnosis_text, says_that_processes_outside_the_run_are_not_profiled) {
  MeasuredRun run{.node_of_rank = {0}};
  run.phases.emplace_back().ranks = {{.wall_s = 4, .useful_s = 4, .load_s = 4}};
  Diagnosis diagnosis;
  diagnosis.whole = efficiencies(run);
  EXPECT_EQ(findings_text(run, diagnosis).find("outside"), std::string::npos);
  run.messages_outside = 7;
  const std::string text = findings_text(run, diagnosis);
  EXPECT_NE(text.find("Ranks sent 7 messages to processes outside this run"), std::string::npos)
      << text;
  EXPECT_NE(text.find("count as other programs"), std::string::npos) << text;
}

TEST(diagnosis_text, a_saving_that_may_be_zero_is_given_as_an_upper_limit) {
  Diagnosis diagnosis;
  diagnosis.whole.run_s = 20;
  const auto sentence = [&](double half_width_s) {
    return advice_sentence(diagnosis, {Remedy::binding, {4, half_width_s}, false}, "x.poise");
  };
  EXPECT_NE(sentence(4).find("Saves up to 8.000 s, expected 20 % of the run."), std::string::npos)
      << sentence(4);
  EXPECT_NE(sentence(1).find("Saves about 4.000 s (+-1.000 s), 20 % of the run."),
            std::string::npos)
      << sentence(1);
}

TEST(diagnosis_text,
     states_how_many_redistributions_are_needed_because_the_time_per_redistribution_is_unknown) {
  Diagnosis diagnosis;
  diagnosis.whole.run_s = 20;
  diagnosis.imbalance = {.kind = ImbalanceKind::drifting, .every = 5, .distributions = 29};
  const auto sentence = [&] {
    return advice_sentence(diagnosis, {Remedy::objects, {4, 1}, false}, "x.poise");
  };
  const std::string repeated = "20 % of the run, minus the time that the program needs for 29 dis";
  EXPECT_NE(sentence().find(repeated), std::string::npos) << sentence();
  for (const auto& [kind, how] : {std::pair{ImbalanceKind::persistent, "by its cost once: "},
                                  {ImbalanceKind::named, "once, evenly in the phases of each"}}) {
    diagnosis.imbalance.kind = kind;
    EXPECT_NE(sentence().find(how), std::string::npos) << sentence();
    EXPECT_NE(sentence().find("20 % of the run."), std::string::npos) << sentence();
  }
}

TEST(diagnosis_text, recognises_an_imbalance_that_is_the_same_in_all_phases_with_the_same_name) {
  MeasuredRun run{.node_of_rank = {0, 0}};
  Trace trace;
  for (std::uint64_t p = 0; p < 20; ++p) {
    MeasuredPhase& phase = run.phases.emplace_back();
    phase.name = p % 2 == 0 ? "assemble" : "solve";
    for (const double s : {p % 2 == 0 ? 2.0 : 1.0, p % 2 == 0 ? 1.0 : 2.0})
      phase.ranks.push_back({.wall_s = 2, .useful_s = s, .load_s = s, .waited = {2 - s, 0}});
    trace.phases.emplace_back().placement = Placement(std::vector<PlaceId>{0, 1});
    trace.phases.back().id = p;
  }
  const Diagnosis diagnosis = diagnose(run, trace);
  const std::string text = diagnosis_text(run, diagnosis, "x.poise");
  EXPECT_NE(text.find("This imbalance is persistent in"), std::string::npos) << text;
  EXPECT_EQ(nlohmann::json::parse(diagnosis_json(run, diagnosis))["imbalance"]["kind"], "named");
  ASSERT_EQ(diagnosis.advice.front().remedy, Remedy::objects);
  EXPECT_NEAR(diagnosis.advice.front().saved.value, 20 * 0.5, 1e-9);
}

TEST(diagnosis_text, says_how_long_other_programs_computed_and_on_which_node_they_computed_most) {
  MeasuredRun run{.node_of_rank = {0, 1, 1}};
  run.phases.emplace_back().ranks.assign(3, {.wall_s = 9, .useful_s = 9, .load_s = 9});
  const auto text_if = [&](std::vector<double> others_s) {
    run.others_s = std::move(others_s);
    Diagnosis diagnosis;
    diagnosis.whole = efficiencies(run);
    return findings_text(run, diagnosis);
  };
  EXPECT_NE(text_if({1, 2}).find("Other programs used the cores of this run for 3.000 s in total, "
                                 "2.000 s of it on\nthe node of rank 1."),
            std::string::npos)
      << text_if({1, 2});
  // The total of 0.26 s is less than 1 % of the time of the ranks: three ranks ran for 9 s each.
  EXPECT_EQ(text_if({0.13, 0.13}).find("Other programs"), std::string::npos);
  EXPECT_EQ(text_if({}).find("Other programs"), std::string::npos);
}

TEST(diagnosis_text, a_profile_without_the_time_of_other_programs_says_so) {
  MeasuredRun run{.node_of_rank = {0}, .others_s = {0}};
  run.phases.emplace_back().ranks = {{.wall_s = 9, .useful_s = 9, .load_s = 5, .queued_s = 4}};
  Diagnosis diagnosis;
  diagnosis.whole = efficiencies(run);
  diagnosis.advice = {{}};
  EXPECT_EQ(findings_text(run, diagnosis).find("does not tell"), std::string::npos);
  EXPECT_NE(diagnosis_json(run, diagnosis).find("others_s"), std::string::npos);
  run.knows_others = false;
  EXPECT_NE(findings_text(run, diagnosis).find("this profile does not tell."), std::string::npos)
      << findings_text(run, diagnosis);
  EXPECT_EQ(diagnosis_json(run, diagnosis).find("others_s"), std::string::npos);
}

TEST(diagnosis_text, ranks_that_sleep_outside_mpi_are_named_and_not_called_efficient) {
  MeasuredRun run{.node_of_rank = {0, 0}};
  run.phases.emplace_back().ranks.assign(2, {.wall_s = 10, .useful_s = 10, .load_s = 10});
  const auto text_if = [&](double asleep_s) {
    run.phases[0].ranks[1].asleep_s = asleep_s;
    Diagnosis diagnosis;
    diagnosis.whole = efficiencies(run);
    diagnosis.advice = {{}};
    return diagnosis_text(run, diagnosis, "x.poise");
  };
  EXPECT_NE(text_if(9).find("Ranks slept outside MPI for 45 % of their time (rank 1 longest, for "
                            "90 %)."),
            std::string::npos)
      << text_if(9);
  EXPECT_NE(text_if(9).find("Nothing here: ranks sleep outside MPI."), std::string::npos);
  EXPECT_EQ(text_if(1).find("sle"), std::string::npos) << text_if(1);
  EXPECT_NE(text_if(1).find("Nothing: the run is efficient."), std::string::npos);
}

TEST(diagnosis_text, says_how_long_a_cpu_quota_stopped_the_ranks) {
  MeasuredRun run{.node_of_rank = {0, 0}};
  run.phases.emplace_back().ranks.assign(2, {.wall_s = 9, .useful_s = 9, .load_s = 9});
  Diagnosis diagnosis;
  diagnosis.whole = efficiencies(run);
  diagnosis.quota_cpus = 1.5;
  run.quotas = {{.cpus = 1.5, .stopped_s = 0.1}};  // less than 1 % of two times 9 s
  EXPECT_EQ(findings_text(run, diagnosis).find("quota"), std::string::npos);
  run.quotas[0].stopped_s = 3;
  const std::string text = findings_text(run, diagnosis);
  EXPECT_NE(text.find("The CPU quota of the cgroup pays for 1.5 cpus. Because of it, the kernel "
                      "stopped\nthe ranks for 3.000 s, summed over cpus."),
            std::string::npos)
      << text;
  EXPECT_NE(
      advice_sentence(diagnosis, {Remedy::quota, {4, 1}, false}, "x").find("that of 1.5 cpus"),
      std::string::npos);
  EXPECT_EQ(remedy_text(Remedy::quota), "quota");
}

/// The second run has twice the ranks, the same work, and half the efficiency.
TEST(diagnosis_text,
     a_comparison_of_two_runs_shows_how_efficiencies_change_with_the_number_of_ranks) {
  MeasuredRun two{.node_of_rank = {0, 0}}, four{.node_of_rank = {0, 0, 0, 0}};
  two.phases.emplace_back().ranks.assign(2, {.wall_s = 4, .useful_s = 4, .load_s = 4});
  four.phases.emplace_back().ranks.assign(4, {.wall_s = 4, .useful_s = 2, .load_s = 2});
  const std::string text = scaling_text(two, four);
  expect_one_screen(text);
  EXPECT_NE(text.find("Parallel efficiency           100.0 %      50.0 %     0.500"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Computation scaling           100.0 %     100.0 %     1.000"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("the same work"), std::string::npos);
  EXPECT_NE(text.find("1.00 times as fast on 2.00 times the ranks"), std::string::npos);
}

TEST(diagnosis_text, a_comparison_of_two_runs_omits_efficiencies_that_are_unknown_for_either_run) {
  MeasuredRun whole{.node_of_rank = {0, 0}};
  whole.phases.emplace_back().ranks.assign(2, {.wall_s = 4, .useful_s = 2, .load_s = 2});
  MeasuredRun incomplete = whole;
  incomplete.knows_waiting = false;
  EXPECT_NE(scaling_text(whole, whole).find("Transfer"), std::string::npos);
  const std::string text = scaling_text(whole, incomplete);
  EXPECT_EQ(text.find("Transfer"), std::string::npos) << text;
  EXPECT_EQ(text.find("Serialisation"), std::string::npos) << text;
  EXPECT_NE(text.find("the second profile lacks some\nwaits."), std::string::npos) << text;
  EXPECT_NE(scaling_text(incomplete, whole).find("the first profile lacks"), std::string::npos);
}

constexpr const char* kNoImbalance = "The imbalance of the work costs at most 2 % of the run.\n";

TEST(diagnosis_text, says_that_imbalance_costs_little_if_loads_are_unequal_but_small) {
  MeasuredRun run{.node_of_rank = {0, 0}};
  for (int p = 0; p < 4; ++p)
    run.phases.push_back({.name = "",
                          .ranks = {{.wall_s = 1, .useful_s = 0.03, .load_s = 0.03},
                                    {.wall_s = 1, .useful_s = 0.01, .load_s = 0.01}}});
  Diagnosis diagnosis;
  diagnosis.whole = efficiencies(run);
  diagnosis.imbalance = imbalance_of(run);
  EXPECT_NEAR(diagnosis.whole.load_balance, 2.0 / 3, 1e-9);
  const std::string text = findings_text(run, diagnosis);
  EXPECT_NE(text.find(kNoImbalance), std::string::npos) << text;
}

TEST(diagnosis_text, a_run_that_took_no_time_has_no_findings) {
  MeasuredRun run{.node_of_rank = {0, 0}};
  for (int p = 0; p < 4; ++p) run.phases.emplace_back().ranks.resize(2);
  Diagnosis diagnosis;
  diagnosis.whole = efficiencies(run);
  diagnosis.imbalance = imbalance_of(run);
  EXPECT_EQ(findings_text(run, diagnosis), kNoImbalance);
}

}  // namespace
}  // namespace poise::apps
