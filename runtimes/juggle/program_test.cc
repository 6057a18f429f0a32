// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/program.h"

#include <csignal>
#include <gtest/gtest.h>
#include <unistd.h>

namespace poise::juggle {
namespace {

TEST(Program, a_signal_that_arrives_as_the_program_ends_does_not_end_the_balancer) {
  const auto balance = [] {
    {
      const Signals signals;
      ::kill(::getpid(), SIGINT);
    }
    ::_exit(5);
  };
  EXPECT_EXIT(balance(), testing::ExitedWithCode(5), "");
}

}  // namespace
}  // namespace poise::juggle
