// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/settings.h"

#include <gmock/gmock.h>
#include <map>

#include "tests/support/text_of_error.h"

namespace poise::charm {
namespace {

using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

const Named kFree{"PoiseLB", parse_strategy("poise").strategy, true};
const Named kNuco{"NucoLB", parse_strategy("nuco").strategy, false};

Settings settings(const Named& named, const std::string& asked, const Variables& variables) {
  return settings_of(named, asked, [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string strategy(const Named& named, const std::string& asked, const Variables& variables) {
  return settings(named, asked, variables).choice.text();
}

TEST(Settings, PoiseLB_uses_the_strategy_that_the_user_chooses_but_NucoLB_always_uses_nuco) {
  EXPECT_EQ(strategy(kNuco, "", {}), "nuco");
  EXPECT_EQ(strategy(kFree, "", {}), "poise");
  EXPECT_EQ(strategy(kFree, "", {{"POISE_STRATEGY", "greedy"}}), "greedy");
  EXPECT_EQ(strategy(kNuco, "", {{"POISE_STRATEGY", "greedy"}}), "nuco");
}

TEST(Settings, nuco_parameters_from_the_environment_apply_in_PoiseLB_and_in_NucoLB) {
  const Variables knobs{{"POISE_STRATEGY", "nuco:alpha=0.001"}};
  EXPECT_EQ(strategy(kNuco, "", knobs), "nuco:alpha=0.001");
  EXPECT_EQ(strategy(kFree, "", knobs), "nuco:alpha=0.001");
}

TEST(Settings, the_command_line_overrides_the_environment) {
  EXPECT_EQ(strategy(kFree, "refine:tolerance=1.1", {{"POISE_STRATEGY", "greedy"}}),
            "refine:tolerance=1.1");
}

TEST(Settings, reads_the_same_environment_variables_as_the_object_runtime_on_mpi) {
  const Settings all = settings(kFree, "",
                                {{"POISE_TRACE", "t.poise"},
                                 {"POISE_LOG", "-"},
                                 {"POISE_BUDGET", "20ms"},
                                 {"POISE_MACHINE", "numa:2 core:2"}});
  EXPECT_EQ(all.trace, "t.poise");
  EXPECT_EQ(all.log, "-");
  EXPECT_EQ(all.budget_s, 0.02);
  EXPECT_EQ(all.machine, "numa:2 core:2");
}

TEST(Settings, the_error_for_an_invalid_setting_names_its_variable_or_option) {
  const auto error_of = [](const std::string& asked, const Variables& variables) {
    return text_of_error([&] { settings(kFree, asked, variables); });
  };
  EXPECT_THAT(error_of("gredy", {}), HasSubstr("+PoiseLB: unknown strategy \"gredy\""));
  EXPECT_THAT(error_of("", {{"POISE_STRATEGY", "nuco:alpha=x"}}), HasSubstr("POISE_STRATEGY: "));
  EXPECT_THAT(error_of("", {{"POISE_BUDGET", "soon"}}), HasSubstr("POISE_BUDGET: \"soon\""));
  EXPECT_THAT(error_of("", {{"POISE_MACHINE", "numa:x"}}), HasSubstr("POISE_MACHINE: "));
}

}  // namespace
}  // namespace poise::charm
