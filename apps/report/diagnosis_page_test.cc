// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/diagnosis_page.h"

#include <gtest/gtest.h>
#include <string>

#include "apps/report/diagnosis_pictures.h"
#include "apps/report/diagnosis_text.h"

#include "poise/diagnosis/planted_testing.h"

namespace poise::apps {
namespace {

/// In this run all ranks but rank 1 wait for rank 1; each rank transfers data for 0.5 s per phase.
MeasuredRun two_phases(std::uint32_t ranks) {
  MeasuredRun run{.node_of_rank = std::vector<std::uint32_t>(ranks, 0)};
  for (int p = 0; p < 2; ++p) {
    MeasuredPhase& phase = run.phases.emplace_back();
    for (std::uint32_t r = 0; r < ranks; ++r)
      phase.ranks.push_back(r == 1 ? RankTimes{.wall_s = 4, .useful_s = 3.5, .load_s = 3.5}
                                   : RankTimes{.wall_s = 4,
                                               .useful_s = 1,
                                               .load_s = 1,
                                               .waited = {2.5, 0},
                                               .waited_for = {{1, 2.5}}});
  }
  return run;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(diagnosis_page, pictures_show_the_times_of_each_rank_summed_over_all_phases) {
  const MeasuredRun run = two_phases(2);
  const std::string ranks = rank_times_picture(run);
  EXPECT_TRUE(has(ranks, "rank 0: 2.000 s useful, 5.000 s waiting, 1.000 s transfer")) << ranks;
  EXPECT_TRUE(has(ranks, "rank 1: 7.000 s useful, 0 s waiting, 1.000 s transfer")) << ranks;
  const std::string waits = waiting_picture(run);
  EXPECT_TRUE(has(waits, "rank 0 waited 5.000 s for rank 1")) << waits;
  EXPECT_EQ(count_of(waits, "class=\"heat\""), 1u);
  const std::string along = efficiency_picture(run);
  // In each phase of 4 s, the useful times of the two ranks are 1 s and 3.5 s, on average 2.25 s.
  // So the parallel efficiency is 2.25 / 4, the load balance 2.25 / 3.5, and the communication
  // efficiency 3.5 / 4.
  EXPECT_EQ(count_of(along, "parallel 56 %, load balance 64 %, communication 88 %, 4.000 s"), 2u)
      << along;
}

TEST(diagnosis_page, calls_time_in_MPI_transfer_only_if_the_waiting_time_is_known) {
  MeasuredRun run = two_phases(2);
  run.knows_waiting = false;
  EXPECT_TRUE(has(rank_times_picture(run), "rank 0: 2.000 s useful, 6.000 s in MPI"));
  Trace trace;
  for (int p = 0; p < 2; ++p)
    trace.phases.emplace_back().placement = Placement(std::vector<PlaceId>{0, 1});
  EXPECT_TRUE(
      has(diagnosis_page(run, diagnose(run, trace), "x.poise"), "profile lacks some waits"));
}

TEST(diagnosis_page, for_1000_ranks_each_bar_and_matrix_cell_represents_several_ranks) {
  const MeasuredRun run = two_phases(1000);
  EXPECT_EQ(count_of(rank_times_picture(run), "class=\"work\""), 200u);
  EXPECT_EQ(count_of(rank_times_picture(run), "class=\"peak\""), 200u);
  EXPECT_TRUE(has(rank_times_picture(run), "rank (bar: the mean of 5; line: longest useful time)"));
  const std::string waits = waiting_picture(run);
  // The ranks form 63 groups. Each group waits only for the group of rank 1, so each row has one
  // cell.
  EXPECT_EQ(count_of(waits, "class=\"heat\""), 63u);
  EXPECT_TRUE(has(waits, "ranks 16 to 31 waited 80.00 s for ranks 0 to 15")) << waits;
  EXPECT_TRUE(has(waits, "square: the sum of 16 x 16 ranks")) << waits;
  EXPECT_TRUE(has(waits, "ranks 992 to 999 waited 40.00 s for ranks 0 to 15")) << waits;
}

TEST(diagnosis_page, shows_all_advice_and_escapes_the_file_name) {
  for (const auto cause : {planted::Cause::persistent, planted::Cause::none}) {
    const auto profile = planted::Generator({{cause, 0.4}}, 1).profile();
    const Diagnosis diagnosis = diagnose(profile.run, profile.trace);
    const std::string page = diagnosis_page(profile.run, diagnosis, "<b>.poise");
    EXPECT_FALSE(has(page, "<b>.poise"));
    EXPECT_TRUE(has(page, "&lt;b&gt;.poise"));
    EXPECT_FALSE(has(page, "http:"));
    EXPECT_EQ(count_of(page, "<li>"), diagnosis.advice.size());
    EXPECT_EQ(has(page, "Seconds that each advice saves"),
              diagnosis.advice.front().remedy != Remedy::nothing);
  }
}

}  // namespace
}  // namespace poise::apps
