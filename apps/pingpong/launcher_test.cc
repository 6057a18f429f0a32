// SPDX-License-Identifier: BSD-3-Clause

#include "apps/pingpong/launcher.h"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

#include "poise/base/clock.h"

namespace poise::apps {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::vector<std::string> lines_of(const std::string& command, double timeout_s = 30) {
  std::vector<std::string> lines;
  run_lines(command, timeout_s, [&](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

TEST(Launcher, each_line_of_output_is_passed_to_the_caller) {
  EXPECT_THAT(lines_of("printf 'one\\ntwo\\n'; echo three"), ElementsAre("one", "two", "three"));
  EXPECT_THAT(lines_of("true"), ElementsAre());
}

TEST(Launcher, a_program_that_writes_much_to_stdout_and_stderr_does_not_block) {
  EXPECT_EQ(lines_of("i=0; while [ $i -lt 20000 ]; do echo line; echo error >&2; i=$((i+1)); done")
                .size(),
            20000u);
}

TEST(Launcher, reports_the_exit_status_and_the_first_line_of_output_of_a_command_that_fails) {
  EXPECT_THAT(
      [] { lines_of("echo -------- >&2; echo no such host >&2; exit 3"); },
      ThrowsMessage<std::runtime_error>(AllOf(HasSubstr("ended with status 3: no such host"))));
  EXPECT_THAT([] { lines_of("kill -9 $$"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("was ended by signal 9")));
}

TEST(Launcher, notices_the_end_of_a_command_even_if_the_calling_process_ignores_SIGCHLD) {
  std::signal(SIGCHLD, SIG_IGN);
  EXPECT_THAT(lines_of("echo one"), ElementsAre("one"));
  std::signal(SIGCHLD, SIG_IGN);
  EXPECT_THAT([] { lines_of("exit 3"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("ended with status 3")));
}

TEST(Launcher, a_command_that_takes_too_long_is_killed_with_its_children) {
  const double start_s = wall_now_s();
  EXPECT_THAT([] { lines_of("sleep 300 & sleep 300", 0.2); },
              ThrowsMessage<std::runtime_error>(HasSubstr("did not end within")));
  EXPECT_LT(wall_now_s() - start_s, 60);
}

TEST(Launcher, quoting_protects_words_from_the_shell) {
  for (const std::string word : {"plain", "two words", "it's", "$HOME `x` \\ \"q\""})
    EXPECT_THAT(lines_of("echo " + shell_word(word) + " | cat"), ElementsAre(word)) << word;
}

}  // namespace
}  // namespace poise::apps
