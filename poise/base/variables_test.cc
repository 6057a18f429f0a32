// SPDX-License-Identifier: BSD-3-Clause

#include "poise/base/variables.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <set>
#include <utility>

#include "tests/support/text_of_error.h"

#include "poise/base/error.h"
#include "poise/base/text.h"

namespace poise {
namespace {

using testing::_;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

std::vector<std::string> notes(std::vector<const char*> environment, unsigned readers) {
  environment.push_back(nullptr);
  return notes_on(environment.data(), readers);
}

TEST(Variables, have_unique_names_and_a_help_text) {
  std::set<std::string_view> names;
  for (const Variable& row : variables()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " is there twice";
    EXPECT_NE(readers_text(row.readers), "") << row.name;
    EXPECT_FALSE(row.help.empty()) << row.name;
    EXPECT_TRUE(!row.takes.empty() || !row.choices.empty()) << row.name;
  }
}

TEST(Variables, have_a_default_value_that_is_among_their_choices) {
  for (const Variable& row : variables()) {
    if (row.initial.empty() || row.choices.empty()) continue;
    EXPECT_THAT(row.choices, testing::Contains(row.initial)) << row.name;
  }
}

TEST(Variables, each_task_runtime_setting_has_an_environment_variable_with_the_same_help_text) {
  for (const Knob& knob : task_settings())
    EXPECT_EQ(variable(task_variable(knob.name)).help, knob.help);
  EXPECT_EQ(variable("POISE_TASKS_MIN_GAIN").initial, "0.1");
  EXPECT_EQ(variable("POISE_TASKS_MIN_GAIN").takes, "0 to 1");
  EXPECT_EQ(variable("POISE_TASKS_POLICY").initial, "cost");
}

TEST(Variables, a_misspelt_variable_causes_a_note_with_the_nearest_name) {
  EXPECT_THAT(notes({"POISE_STRATEGI=greedy", "HOME=/"}, reader::objects),
              ElementsAre("POISE_STRATEGI has no effect: there is no such variable; did you mean "
                          "POISE_STRATEGY?"));
  EXPECT_THAT(notes({"POISE_LEN=1", "poise_period=3"}, reader::objects),
              ElementsAre(HasSubstr("did you mean POISE_LEND?")));
  EXPECT_THAT(notes({"MIN_LOCAL_TASK_IN_QUEUE_BEFORE_MIGRATION=3"}, reader::tasks), IsEmpty());
  EXPECT_THAT(
      notes({"MIN_LOCAL_TASK_IN_QUEUE_BEFORE_MIGRATION=3"}, reader::tasks | reader::chameleon),
      ElementsAre(HasSubstr("MIN_LOCAL_TASKS_IN_QUEUE_BEFORE_MIGRATION?")));
}

TEST(Variables,
     no_note_is_printed_about_a_misspelt_variable_that_the_task_runtime_reports_as_an_error) {
  EXPECT_THAT(notes({"POISE_TASKS_POLCY=cost"}, reader::objects | reader::tasks), IsEmpty());
  EXPECT_THAT(notes({"POISE_TASKS_POLCY=cost"}, reader::objects),
              ElementsAre(HasSubstr("did you mean POISE_TASKS_POLICY?")));
  const char* const environment[] = {"POISE_TASKS_POLCY=cost", nullptr};
  EXPECT_THAT(notes_on_misspelt(environment), IsEmpty());
}

TEST(Variables,
     a_program_does_not_report_a_misspelt_variable_that_its_parent_process_has_reported) {
  EXPECT_THAT(notes({"POISE_STRATEGI=a", "POISE_NOTED_NAMES=POISE_X POISE_STRATEGI", "POISE_LEN=1"},
                    reader::objects),
              ElementsAre(HasSubstr("did you mean POISE_LEND?")));
  const char* const environment[] = {"POISE_NOTED_NAMES=POISE_STRATEGI", "POISE_STRATEGI=a",
                                     nullptr};
  EXPECT_THAT(notes_on_misspelt(environment), IsEmpty());
  EXPECT_EQ(notes_on_misspelt(environment + 1).count("POISE_STRATEGI"), 1u);
}

TEST(Variables, no_note_is_printed_about_environment_variables_of_other_software) {
  EXPECT_THAT(
      notes({"POISE_HOME=/opt", "POISE_ROOT=/opt", "POISE_DIR=/opt", "POISE_LIB=/opt/lib",
             "POISE_VERSION=1", "POISE_BIN=/opt/bin", "POISE_SEEDS=3", "PATH=", "=", "MAX_TASKS=3"},
            reader::objects | reader::tasks | reader::chameleon),
      IsEmpty());
}

TEST(Variables, a_note_is_printed_about_a_variable_that_only_another_runtime_reads) {
  EXPECT_THAT(notes({"POISE_TASKS_PULL=0", "POISE_LEND=0"}, reader::objects),
              ElementsAre("POISE_TASKS_PULL has no effect: tasks read it, objects do not without "
                          "POISE_LEND=1"));
  EXPECT_THAT(notes({"POISE_TASKS_PULL=0"}, reader::objects | reader::tasks), IsEmpty());
  EXPECT_THAT(notes({"POISE_TRACE=a"}, reader::tasks),
              ElementsAre("POISE_TRACE has no effect: objects, Charm++ read it, tasks do not"));
  EXPECT_THAT(notes({"POISE_MODE=root"}, reader::charm),
              ElementsAre("POISE_MODE has no effect: objects read it, Charm++ do not"));
}

TEST(Variables, an_mpi_job_prints_no_note_about_a_variable_that_only_command_line_tools_read) {
  EXPECT_THAT(notes({"POISE_JUGGLE_NUMA=within", "POISE_MACHINES=/m"}, reader::tasks), IsEmpty());
}

TEST(Variables, command_line_tools_print_no_note_about_a_variable_that_only_mpi_jobs_read) {
  const char* const environment[] = {"POISE_STRATEGY=greedy", "POISE_JUGGLE_PERIO=1s", nullptr};
  EXPECT_THAT(notes_on_misspelt(environment),
              ElementsAre(Pair(_, HasSubstr("did you mean POISE_JUGGLE_PERIOD?"))));
}

TEST(Variables, refuse_unknown_choices_and_numbers_out_of_range_and_times_without_a_unit) {
  EXPECT_EQ(choice_of(variable("POISE_MODE"), "replicated"), 2u);
  EXPECT_EQ(text_of_error([] { choice_of(variable("POISE_MODE"), "rooot"); }),
            "\"rooot\" is not allowed; the choices are auto, root, replicated, hierarchical; did "
            "you mean \"root\"?");
  EXPECT_EQ(count_of(variable("POISE_RANKS_PER_HOST"), "2147483647"), 2147483647u);
  EXPECT_EQ(text_of_error([] { count_of(variable("POISE_RANKS_PER_HOST"), "2147483648"); }),
            "\"2147483648\" is not a number of ranks");
  EXPECT_EQ(duration_s_of(variable("POISE_BUDGET"), "100ms"), 0.1);
  EXPECT_EQ(text_of_error([] { duration_s_of(variable("POISE_BUDGET"), "2"); }),
            "\"2\" is not a time such as 2s or 100ms");
}

TEST(Variables, suggests_short_names_that_differ_in_one_letter_and_long_names_that_differ_in_two) {
  const std::pair<const char*, const char*> cases[] = {
      {"POISE_LOGG", "POISE_LOG?"},
      {"POISE_LXGG", ""},
      {"POISE_PERIO", "POISE_PERIOD?"},
      {"POISE_PERI", ""},
      {"POISE_MACHIN", "POISE_MACHINE?"},
      {"POISE_MACHI", ""},
      {"POISE_STRATE", "POISE_STRATEGY?"},
      {"POISE_STRAT", ""},
      {"POISE_RANKS_PER_HO", "POISE_RANKS_PER_HOST?"},
      {"POISE_RANKS_PER_H", ""}};
  for (const auto& [name, meant] : cases) {
    const std::vector<std::string> found = notes({name}, reader::objects | reader::charm);
    if (*meant == '\0')
      EXPECT_THAT(found, IsEmpty()) << name;
    else
      EXPECT_THAT(found, ElementsAre(HasSubstr(meant))) << name;
  }
}

TEST(Variables, notes_are_sorted_and_name_every_misspelt_variable) {
  EXPECT_THAT(
      notes({"POISE_TRAC=a", "POISE_LOGG=b", "POISE_LEND=1", "POISE_MODEE=c"}, reader::objects),
      ElementsAre(HasSubstr("POISE_LOGG has"), HasSubstr("POISE_MODEE has"),
                  HasSubstr("POISE_TRAC has")));
  const char* const environment[] = {"POISE_TRAC=a", "POISE_LEND=1", "POISE_LOGG", nullptr};
  EXPECT_THAT(notes_on_misspelt(environment),
              ElementsAre(Pair("POISE_LOGG", HasSubstr("did you mean POISE_LOG?")),
                          Pair("POISE_TRAC", HasSubstr("did you mean POISE_TRACE?"))));
}

TEST(Variables, are_listed_by_group_with_objects_first_then_task_runtime_settings_then_others) {
  const auto index_of = [](std::string_view name) {
    return std::ranges::find(variables(), name, &Variable::name) - variables().begin();
  };
  const auto settings = static_cast<std::ptrdiff_t>(task_settings().size());
  EXPECT_EQ(index_of("POISE_STRATEGY"), 0);
  EXPECT_EQ(index_of("POISE_TASKS_POLICY"), index_of("POISE_MACHINE") + 1);
  EXPECT_EQ(index_of("POISE_TASKS_SUMMARY"), index_of("POISE_TASKS_POLICY") + settings - 1);
  EXPECT_EQ(index_of("POISE_TASKS_TRACE"), index_of("POISE_TASKS_SUMMARY") + 1);
  for (const Knob& knob : task_settings()) {
    const Variable& row = variable(task_variable(knob.name));
    EXPECT_EQ(row.readers, reader::tasks);
    EXPECT_EQ(row.takes, fmt::format("{} to {}", knob.min, knob.max));
    if (knob.choices.empty()) {
      EXPECT_EQ(parse_number(row.initial), knob.initial);
    }
  }
}

TEST(Variables, the_names_of_several_readers_are_separated_by_commas) {
  EXPECT_EQ(readers_text(0), "");
  EXPECT_EQ(readers_text(reader::tasks), "tasks");
  EXPECT_EQ(readers_text(reader::tasks | reader::objects | reader::charm),
            "objects, tasks, Charm++");
}

TEST(Variables, a_number_may_be_0_and_a_choice_is_read_as_its_index_in_the_list_of_choices) {
  EXPECT_EQ(count_of(variable("POISE_RANKS_PER_HOST"), "0"), 0u);
  for (const char* text : {"-1", "1.5", "", "x"})
    EXPECT_THROW(count_of(variable("POISE_RANKS_PER_HOST"), text), Error) << text;
  const Variable& mode = variable("POISE_MODE");
  for (std::size_t i = 0; i < mode.choices.size(); ++i)
    EXPECT_EQ(choice_of(mode, mode.choices[i]), i);
  EXPECT_EQ(text_of_error([] { choice_of(variable("POISE_MODE"), "xxxxxxxx"); }),
            "\"xxxxxxxx\" is not allowed; the choices are auto, root, replicated, hierarchical");
}

TEST(Variables, asking_for_a_variable_that_does_not_exist_is_a_programming_error) {
  EXPECT_DEATH(variable("POISE_NO_SUCH_NAME"), "internal error: found != nullptr does not hold");
}

TEST(Variables, if_several_names_are_equally_near_the_note_suggests_one_that_the_program_reads) {
  const auto expect_meant = [](const char* name, unsigned readers, const char* meant) {
    EXPECT_THAT(notes({name}, readers),
                ElementsAre(HasSubstr(fmt::format("did you mean {}?", meant))));
  };
  expect_meant("POISE_MACHINEX", reader::command, "POISE_MACHINES");
  expect_meant("POISE_MACHINEX", reader::charm, "POISE_MACHINE");
  expect_meant("POISE_MACHINEX", reader::objects, "POISE_MACHINE");
  // Commands do not read POISE_MACHINE, but POISE_MACHINES. Yet the misspelt name is nearer to
  // POISE_MACHINE, so this name is suggested.
  expect_meant("POISE_MCHINE", reader::command, "POISE_MACHINE");
}

}  // namespace
}  // namespace poise
