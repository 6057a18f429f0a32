// SPDX-License-Identifier: BSD-3-Clause

#include "poise/trace/mpip.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/text_of_error.h"

namespace poise {
namespace {

using testing::HasSubstr;

// This report was written by hand in the form of mpiP 3.4.1.
constexpr const char* kHead = R"(@ mpiP
@ Command : ./ring 3
@ Version                  : 3.4.1
@ MPI Task Assignment      : 0 node-a
@ MPI Task Assignment      : 1 node-a
@ MPI Task Assignment      : 2 node-b

---------------------------------------------------------------------------
@--- MPI Time (seconds) ---------------------------------------------------
---------------------------------------------------------------------------
Task    AppTime    MPITime     MPI%
   0         10        2.5    25.00
   1         10          4    40.00
   2   1.01e+01          1     9.90
   *       30.1        7.5    24.92
---------------------------------------------------------------------------
@--- Callsites: 1 ---------------------------------------------------------
---------------------------------------------------------------------------
 ID Lev File/Address        Line Parent_Funct             MPI_Call
  1   0 ring.c                12 main                     Send
)";
const std::string kMatrix =
    "------- Start Communication Matrix -------------\n\nStatistics of rank: 0\n\n"
    "Source\tTarget\tTotal Amount\tTotal Count\n0\t0\t0\t0\n0\t1\t3000\t3\n0\t2\t0\t0\n"
    "\n\nSource\tTarget\tTotal Amount\tTotal Count\n1\t2\t40\t1\n2\t0\t9007199254740000\t7\n"
    "------- End Communication Matrix -------------\n\n@--- End of Report ---\n";

std::string error_of(const std::string& text) {
  return text_of_error([&] { mpip::read_report("r.mpiP", text); });
}

TEST(MpipReport, ranks_become_tasks_and_matrix_entries_become_messages) {
  const Trace trace = mpip::read_report("r.mpiP", kHead + kMatrix);
  ASSERT_EQ(trace.phases.size(), 1u);
  const Phase& phase = trace.phases[0];
  ASSERT_EQ(phase.workload.num_tasks(), 3u);
  EXPECT_DOUBLE_EQ(phase.workload.tasks[0].load_s, 7.5);
  EXPECT_DOUBLE_EQ(phase.workload.tasks[2].load_s, 9.1);
  EXPECT_DOUBLE_EQ(phase.wall_s, 10.1);
  ASSERT_EQ(phase.workload.messages.size(), 3u);
  EXPECT_EQ(phase.workload.messages[0].to, 1u);
  EXPECT_EQ(phase.workload.messages[0].bytes, 3000u);
  EXPECT_EQ(phase.workload.messages[0].count, 3u);
  EXPECT_EQ(phase.workload.messages[2].from, 2u);
  EXPECT_EQ(phase.workload.messages[2].bytes, 9007199254740000u);
  EXPECT_EQ(phase.placement.of(2), 2u);
  EXPECT_EQ(trace.num_places, 3u);
}

TEST(MpipReport, a_report_without_a_communication_matrix_gives_loads_and_a_note_but_no_messages) {
  const Trace trace = mpip::read_report("r.mpiP", kHead);
  ASSERT_EQ(trace.phases.size(), 1u);
  EXPECT_DOUBLE_EQ(trace.phases[0].workload.tasks[0].load_s, 7.5);
  EXPECT_TRUE(trace.phases[0].workload.messages.empty());
  ASSERT_EQ(trace.assumed.size(), 1u);
  EXPECT_THAT(trace.assumed[0], HasSubstr("no messages are known"));
}

TEST(MpipReport, errors_give_the_file_and_the_number_of_the_invalid_line) {
  EXPECT_THAT(error_of("@ mpiP\n"), HasSubstr("no section \"MPI Time\""));
  std::string truncated = kHead + kMatrix;
  truncated.resize(truncated.find("------- End"));
  EXPECT_THAT(error_of(truncated), HasSubstr("truncated"));
  const auto with = [&](const std::string& old, const std::string& now) {
    std::string text = kHead + kMatrix;
    return error_of(text.replace(text.find(old), old.size(), now));
  };
  EXPECT_THAT(with("1\t2\t40", "1\t3\t40"), HasSubstr("r.mpiP:32: rank \"3\" does not exist"));
  EXPECT_THAT(with("1\t2\t40\t1", "1\t2\t40"), HasSubstr("has 3 words instead of 4"));
  EXPECT_THAT(with("\t40\t", "\t-40\t"), HasSubstr("\"-40\" is not a whole number"));
  EXPECT_THAT(with("   1         10", "   2         10"), HasSubstr("the times of rank 1"));
  EXPECT_THAT(with("          4    40", "         14    40"),
              HasSubstr("spent 14 s in MPI, more than its run time of 10"));
  EXPECT_THAT(with("   *", "   3  1 1 1\n   *"), HasSubstr("3 ranks are assigned, but 4"));
  EXPECT_THAT(with("   0         10", "   0        -10"), HasSubstr("r.mpiP:12: \"-10\" is not a"));
  EXPECT_THAT(with("   1         10", "   1          x"),
              HasSubstr("r.mpiP:13: \"x\" is not a time"));
  EXPECT_THAT(with("   1         10          4    40.00", "   1         10"),
              HasSubstr("the times of rank 1"));
  EXPECT_THAT(with("0\t1\t3000", "3\t1\t3000"),
              HasSubstr("rank \"3\" does not exist; there are 3"));
  EXPECT_THAT(error_of(std::string(kHead) + kHead), HasSubstr("a second section \"MPI Time\""));
}

TEST(MpipReport, accepts_rounded_times_and_reports_with_windows_line_endings) {
  std::string text = "@ mpiP\r\n@--- MPI Time (seconds) ---\r\nTask AppTime MPITime MPI%\r\n";
  for (int rank = 0; rank < 10; ++rank)
    text += fmt::format(" {} 10\t1{}.05 9\r\n", rank, rank % 2 ? "0" : "");
  EXPECT_THAT(error_of(text + " 10 10 10.2 9\r\n"), HasSubstr("rank 10 spent 10.2 s in MPI"));
  text +=
      " * 1 1 1\r\nStart Communication Matrix\r\n\r\n9\t0\t0\t4\r\n 8 9 7 0\r\n0 9 0 0\r\n"
      "End Communication Matrix\r\n";
  const Trace trace = mpip::read_report("r.mpiP", text);
  const Workload& workload = trace.phases.at(0).workload;
  ASSERT_EQ(workload.num_tasks(), 10u);
  EXPECT_DOUBLE_EQ(workload.tasks[0].load_s, 8.95);
  EXPECT_EQ(workload.tasks[1].load_s, 0);
  ASSERT_EQ(workload.messages.size(), 2u);
  EXPECT_EQ(workload.messages[0].from, 9u);
  EXPECT_EQ(workload.messages[0].count, 4u);
  EXPECT_EQ(workload.messages[1].bytes, 7u);
  EXPECT_THAT(trace.assumed.at(0), HasSubstr("point-to-point messages only"));
}

}  // namespace
}  // namespace poise
