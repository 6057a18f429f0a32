// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/claim.h"

#include <csignal>
#include <functional>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtimes/juggle/threads.h"

namespace poise::juggle {
namespace {

/// A child process that does `work` and then waits until the test ends it.
struct Child {
  explicit Child(const std::function<void()>& work = [] {}) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid = ::fork();
    if (pid == 0) {
      work();
      if (::write(ends[1], "", 1) == 1) ::pause();
      ::_exit(0);
    }
    char none;
    EXPECT_EQ(::read(ends[0], &none, 1), 1);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  void end() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    pid = -1;
  }
  ~Child() {
    if (pid > 0) end();
  }
  pid_t pid;
};

TEST(Claim, a_second_balancer_can_claim_a_process_only_after_the_first_has_left_it) {
  const Child program;
  {
    const auto first = claim(program.pid);
    ASSERT_TRUE(first);
    EXPECT_TRUE(is_claimed(program.pid));
    EXPECT_FALSE(claim(program.pid));
  }
  EXPECT_FALSE(is_claimed(program.pid));
  EXPECT_TRUE(claim(program.pid));
}

TEST(Claim, the_claim_of_a_balancer_ends_when_the_balancer_is_killed) {
  const Child program;
  Child balancer([&] { static auto claimed = claim(program.pid); });
  EXPECT_TRUE(is_claimed(program.pid));
  balancer.end();
  EXPECT_FALSE(is_claimed(program.pid));
}

TEST(Claim, descendants_of_a_claimed_process_cannot_be_claimed) {
  const Child program;
  const auto first = claim(::getpid());
  ASSERT_TRUE(first);
  EXPECT_FALSE(claim(program.pid));
  EXPECT_FALSE(is_claimed(program.pid)) << "only its parent is claimed";
}

TEST(Claim, threads_of_a_descendant_that_another_balancer_has_claimed_are_not_followed) {
  const Child root, program;
  ThreadFinder finder(root.pid, true, -1, 100);  // also follows the children of this process
  {
    const auto other = claim(program.pid);
    finder.scan();
    EXPECT_TRUE(finder.meets_balancer());
    EXPECT_FALSE(finder.is_ours(program.pid));
  }
  finder.scan();
  EXPECT_TRUE(finder.is_ours(program.pid));
}

}  // namespace
}  // namespace poise::juggle
