// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/options.h"

#include <cmath>
#include <gmock/gmock.h>
#include <map>

#include "tests/support/text_of_error.h"

#include "poise/base/error.h"
#include "poise/base/variables.h"

namespace poise::objects {
namespace {

using Environment = std::map<std::string, std::string>;

CollectionOptions read(const Environment& environment, const CollectionOptions& options = {}) {
  return with_environment(options, [&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

std::string error_of(const Environment& environment) {
  return text_of_error([&] { read(environment); });
}

TEST(CollectionOptions, environment_variables_override_the_options_that_the_program_sets) {
  const CollectionOptions options = read({{"POISE_STRATEGY", "nuco:alpha=1e-3"},
                                          {"POISE_PERIOD", "25"},
                                          {"POISE_CLOCK", "wall"},
                                          {"POISE_MODE", "hierarchical"},
                                          {"POISE_PLACES", "thread"},
                                          {"POISE_LEND", "0"},
                                          {"POISE_BUDGET", "100ms"},
                                          {"POISE_TRACE", "a.poise"},
                                          {"POISE_TIMELINE", "t.json"},
                                          {"POISE_LOG", "-"},
                                          {"POISE_RANKS_PER_HOST", "4"}},
                                         {.strategy = "greedy", .period = 5});
  EXPECT_EQ(options.strategy, "nuco:alpha=0.001");
  EXPECT_EQ(options.period, 25u);
  EXPECT_EQ(options.clock, Clock::wall);
  EXPECT_EQ(options.mode, Mode::hierarchical);
  EXPECT_TRUE(options.place_per_thread);
  EXPECT_EQ(options.budget_s, 0.1);
  EXPECT_EQ(options.trace, "a.poise");
  EXPECT_EQ(options.timeline, "t.json");
  EXPECT_EQ(options.log, "-");
  EXPECT_EQ(options.ranks_per_host, 4u);
}

TEST(CollectionOptions, the_defaults_in_code_equal_those_in_the_table_of_environment_variables) {
  const CollectionOptions initial;
  const auto unchanged = [&](const CollectionOptions& options) {
    return options.period == initial.period && options.is_automatic == initial.is_automatic &&
           options.clock == initial.clock && options.mode == initial.mode &&
           options.place_per_thread == initial.place_per_thread && options.lend == initial.lend &&
           options.ranks_per_host == initial.ranks_per_host;
  };
  for (const Variable& row : variables()) {
    if ((row.readers & reader::objects) == 0) continue;
    const std::string text(row.initial);
    EXPECT_TRUE(unchanged(read({{std::string(row.name), text}}))) << row.name;
  }
}

TEST(CollectionOptions, offloading_needs_one_place_per_rank) {
  EXPECT_FALSE(read({}).lend);
  EXPECT_TRUE(read({{"POISE_LEND", "1"}}).lend);
  EXPECT_NE(error_of({{"POISE_LEND", "yes"}})
                .find("POISE_LEND: \"yes\" is not allowed; the choices are 0, 1"),
            std::string::npos);
  EXPECT_NE(error_of({{"POISE_LEND", "1"}, {"POISE_PLACES", "thread"}}).find("POISE_PLACES=rank"),
            std::string::npos);
}

TEST(CollectionOptions, unset_and_empty_environment_variables_change_no_option) {
  const CollectionOptions options =
      read({{"POISE_STRATEGY", ""}}, {.strategy = "greedy", .period = 5});
  EXPECT_EQ(options.strategy, "greedy");
  EXPECT_EQ(options.period, 5u);
  EXPECT_FALSE(options.is_automatic);
}

TEST(CollectionOptions, the_library_decides_when_to_balance_if_only_a_strategy_is_given) {
  EXPECT_TRUE(read({{"POISE_STRATEGY", "greedy"}}).is_automatic);
  EXPECT_FALSE(read({{"POISE_STRATEGY", "greedy"}}, {.period = 5}).is_automatic);
  EXPECT_FALSE(read({{"POISE_STRATEGY", "greedy"}, {"POISE_PERIOD", "5"}}).is_automatic);
  const CollectionOptions automatic = read({{"POISE_PERIOD", "auto"}}, {.period = 5});
  EXPECT_TRUE(automatic.is_automatic);
  EXPECT_EQ(automatic.period, 0u);
}

TEST(CollectionOptions, the_maximum_message_size_must_have_room_for_a_header_and_fit_an_int) {
  for (const std::size_t bytes : {std::size_t{64}, (std::size_t{1} << 31) - 1})
    EXPECT_EQ(read({}, {.max_piece_bytes = bytes}).max_piece_bytes, bytes);
  for (const std::size_t bytes : {std::size_t{63}, std::size_t{1} << 31, std::size_t{1} << 32})
    EXPECT_THROW(read({}, {.max_piece_bytes = bytes}), Error);
}

TEST(CollectionOptions, the_budget_of_a_decision_must_not_be_negative) {
  for (const double budget_s : {-1.0, std::nan("")})
    EXPECT_THROW(read({}, {.budget_s = budget_s}), Error);
}

TEST(CollectionOptions, errors_name_the_variable_and_suggest_valid_values) {
  using testing::AllOf;
  using testing::HasSubstr;
  EXPECT_THAT(error_of({{"POISE_STRATEGY", "gredy"}}),
              AllOf(HasSubstr("POISE_STRATEGY"), HasSubstr("did you mean \"greedy\"")));
  EXPECT_THAT(error_of({{"POISE_STRATEGY", "nuco:alpha=x"}}), HasSubstr("POISE_STRATEGY"));
  for (const char* period : {"-1", "1.5", "often", "99999999999"})
    EXPECT_THAT(error_of({{"POISE_PERIOD", period}}),
                AllOf(HasSubstr("POISE_PERIOD"), HasSubstr("auto")));
  EXPECT_THAT(error_of({{"POISE_MODE", "rooot"}}), HasSubstr("did you mean \"root\""));
  EXPECT_THAT(error_of({{"POISE_CLOCK", "sun"}}),
              HasSubstr("is not allowed; the choices are cpu, wall"));
  EXPECT_THAT(error_of({{"POISE_PLACES", "core"}}), HasSubstr("POISE_PLACES"));
  EXPECT_THAT(error_of({{"POISE_BUDGET", "2"}}), HasSubstr("such as 2s"));
  EXPECT_THAT(error_of({{"POISE_RANKS_PER_HOST", "-1"}}),
              AllOf(HasSubstr("POISE_RANKS_PER_HOST"), HasSubstr("a number of ranks")));
}

}  // namespace
}  // namespace poise::objects
