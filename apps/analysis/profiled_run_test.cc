// SPDX-License-Identifier: BSD-3-Clause

#include "apps/analysis/profiled_run.h"

#include <gmock/gmock.h>
#include <string>
#include <vector>

#include "runtimes/profile/profile_file.h"
#include "tests/support/test_folder.h"
#include "tests/support/text_of_error.h"

#include "poise/base/file.h"
#include "poise/machine/text.h"
#include "poise/trace/native.h"

namespace poise::apps {
namespace {

using testing::HasSubstr;

/// A profiled run of two ranks and two phases.
Trace trace_of_two() {
  Trace trace;
  trace.num_places = 2;
  for (const std::uint64_t id : {0, 1}) {
    Phase& phase = trace.phases.emplace_back();
    phase.id = id;
    phase.workload.tasks.resize(2);
    phase.placement = Placement(std::vector<PlaceId>{0, 1});
  }
  return trace;
}

std::string ranks_of(std::uint32_t count) {
  std::string bytes(profile::kMagic);
  for (std::uint32_t r = 0; r < count; ++r) {
    profile::RankProfile rank;
    rank.rank = r;
    rank.num_ranks = 2;
    rank.phases.resize(2);
    bytes += profile::encode(rank);
  }
  return bytes;
}

std::string error_of(const std::string& bytes) {
  const TestFolder folder;
  const std::string file = folder.file("run.poise");
  write_file(file, bytes);
  return text_of_error([&] { read_profiled(file); });
}

std::string error_of(const Trace& trace, const std::string& profile) {
  return error_of(native::write(trace, {{"prof", profile}}));
}

TEST(profiled_run, a_truncated_file_is_reported_as_truncated) {
  const std::string bytes = native::write(trace_of_two(), {{"prof", ranks_of(2)}});
  EXPECT_THAT(error_of(bytes.substr(0, bytes.size() - 40)), HasSubstr("truncated"));
  EXPECT_THAT(error_of(native::write(trace_of_two())), HasSubstr("the trace has no profile"));
}

TEST(profiled_run, a_profile_that_contradicts_its_trace_is_refused) {
  EXPECT_EQ(error_of(trace_of_two(), ranks_of(2)), "no error");
  EXPECT_THAT(error_of(trace_of_two(), ranks_of(0)), HasSubstr("has no ranks"));
  EXPECT_THAT(error_of(trace_of_two(), ranks_of(1)), HasSubstr("from rank 0 in a job of 2 ranks"));
  Trace trace = trace_of_two();
  trace.machine = machine_from_text("core:1");
  EXPECT_THAT(error_of(trace, ranks_of(2)), HasSubstr("the machine has 1 places"));
  trace = trace_of_two();
  trace.phases[1].placement = Placement();
  EXPECT_THAT(error_of(trace, ranks_of(2)), HasSubstr("phase 1 gives the places of 0 ranks"));
  trace = trace_of_two();
  trace.phases.resize(1);
  EXPECT_THAT(error_of(trace, ranks_of(2)), HasSubstr("have 1 phases"));
}

}  // namespace
}  // namespace poise::apps
