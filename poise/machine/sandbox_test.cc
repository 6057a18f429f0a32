// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/sandbox.h"

#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <stdexcept>
#include <unistd.h>
#include <vector>

#include "poise/base/error.h"

namespace poise {
namespace {

TEST(Sandbox, returns_the_result_of_its_function) {
  EXPECT_EQ(in_sandbox([] { return std::string("done"); }), "done");
  EXPECT_EQ(in_sandbox([] { return std::string(); }), "");
  const std::string large(3 << 20, 'x');
  EXPECT_TRUE(in_sandbox([&] { return large; }) == large);
}

TEST(Sandbox, runs_its_function_in_another_process) {
  int number = 1;
  EXPECT_EQ(in_sandbox([&] { return std::to_string(++number); }), "2");
  EXPECT_EQ(number, 1);
}

TEST(Sandbox, rethrows_Error_but_no_other_exception) {
  try {
    in_sandbox([]() -> std::string { fail("line {} is wrong", 3); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "line 3 is wrong");
  }
  EXPECT_EQ(in_sandbox([]() -> std::string { throw std::runtime_error("no"); }), std::nullopt);
}

TEST(Sandbox, returns_nothing_if_its_function_crashes) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGKILL}) {
    SCOPED_TRACE(signal);
    EXPECT_EQ(in_sandbox([&]() -> std::string {
                ::raise(signal);
                return "not reached";
              }),
              std::nullopt);
  }
  EXPECT_EQ(in_sandbox([]() -> std::string { ::_exit(0); }), std::nullopt);
}

TEST(Sandbox, stops_a_function_that_waits_or_computes_forever) {
  EXPECT_EQ(in_sandbox(
                []() -> std::string {
                  while (true) ::pause();
                },
                {.seconds = 0.1}),
            std::nullopt);
  EXPECT_EQ(in_sandbox(
                []() -> std::string {
                  for (volatile bool goes_on = true; goes_on;) {
                  }
                  return "not reached";
                },
                {.cpu_seconds = 1}),
            std::nullopt);
}

TEST(Sandbox, stops_a_function_that_needs_too_much_memory) {
  const auto work = [] {
    const std::vector<char> memory(64 << 20, 'x');
    return std::to_string(memory.size());
  };
  EXPECT_EQ(in_sandbox(work, {.bytes = std::uint64_t{4} << 30}), std::to_string(64 << 20));
  EXPECT_EQ(in_sandbox(work, {.bytes = 16 << 20}), std::nullopt);
}

TEST(Sandbox, returns_the_result_although_stdin_and_stderr_are_closed) {
  const auto work = [] {
    ::close(STDIN_FILENO);
    ::close(STDERR_FILENO);
    ::_exit(in_sandbox([] { return std::string("done"); }) == "done" ? 0 : 1);
  };
  EXPECT_EXIT(work(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace poise
