// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/guard.h"

#include <csignal>
#include <functional>
#include <gtest/gtest.h>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace poise::juggle {
namespace {

/// A process that sleeps, and its affinity.
class Sleeper {
 public:
  Sleeper() : pid_(::fork()) {
    if (pid_ == 0) {
      for (;;) ::pause();
    }
  }
  ~Sleeper() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  pid_t pid() const { return pid_; }
  CpuSet affinity() const {
    CpuSet set;
    get_affinity(pid_, set);
    return set;
  }
  OwnAffinity own() const { return {pid_, pid_, start_time_of(pid_, pid_).value(), affinity()}; }

 private:
  pid_t pid_;
};

bool eventually(const std::function<bool()>& condition) {
  for (int tries = 0; tries < 2000; ++tries, ::usleep(5000))
    if (condition()) return true;
  return false;
}

/// Returns the first allowed cpu. A test that changes affinities needs at least two.
CpuSet first_cpu() { return CpuSet({allowed_cpus().front()}); }
bool has_one_cpu() { return allowed_cpus().size() < 2; }

TEST(Guard, does_not_change_a_new_thread_that_reuses_the_id_of_a_dead_one) {
  if (has_one_cpu()) GTEST_SKIP() << "one cpu";
  const Sleeper sleeper;
  OwnAffinity other = sleeper.own();
  const CpuSet before = other.set;
  other.set = first_cpu();
  ++other.start_time;
  give_back(other);
  EXPECT_EQ(sleeper.affinity(), before);
  --other.start_time;
  give_back(other);
  EXPECT_EQ(sleeper.affinity(), first_cpu());
}

TEST(Guard,
     a_thread_gets_all_allowed_cpus_if_none_of_the_cpus_in_its_affinity_is_allowed_any_longer) {
  if (has_one_cpu()) GTEST_SKIP() << "one cpu";
  const Sleeper sleeper;
  const CpuSet before = sleeper.affinity();
  OwnAffinity own = sleeper.own();
  own.set = CpuSet({allowed_cpus().back() + 1});
  if (set_affinity(sleeper.pid(), own.set)) GTEST_SKIP() << "this cpu exists, too";
  set_affinity(sleeper.pid(), first_cpu());
  give_back(own);
  EXPECT_EQ(sleeper.affinity(), before);
}

TEST(Guard, the_destructor_restores_exactly_the_affinities_that_are_still_in_the_store) {
  if (has_one_cpu()) GTEST_SKIP() << "one cpu";
  const Sleeper kept, dropped;
  const CpuSet before = kept.affinity();
  {
    Guard guard;
    ASSERT_TRUE(guard.keep(1, kept.own()));
    ASSERT_TRUE(guard.keep(2, dropped.own()));
    for (const Sleeper* sleeper : {&kept, &dropped}) set_affinity(sleeper->pid(), first_cpu());
    guard.drop(2);
    EXPECT_TRUE(guard.kept(1));
    EXPECT_FALSE(guard.kept(2));
    EXPECT_EQ(guard.release(), Guard::Release::none);
  }
  EXPECT_EQ(kept.affinity(), before);
  EXPECT_EQ(dropped.affinity(), first_cpu());
}

TEST(Guard, a_new_guard_process_can_be_started_after_the_old_one_was_killed) {
  Guard guard;
  EXPECT_FALSE(guard.has_died());
  const pid_t first = guard.pid();
  ::kill(first, SIGKILL);
  ASSERT_TRUE(eventually([&] { return guard.has_died(); }));
  guard.restart();
  EXPECT_NE(guard.pid(), first);
  EXPECT_FALSE(guard.has_died());
}

/// Kills the guard process and makes its restart fail, by a limit on the number of processes.
/// Returns true if has_died() and the destructor ignore the other children of this process: they
/// neither wait for such a child nor collect its exit status.
bool leaves_other_children_alone() {
  int ends[2];
  if (::pipe(ends) != 0) return false;
  const pid_t ended = ::fork();
  if (ended == 0) ::_exit(7);
  if (::fork() == 0) {  // runs as long as this process
    ::close(ends[1]);
    char none;
    ::_exit(static_cast<int>(::read(ends[0], &none, 1)));
  }
  siginfo_t info;
  ::waitid(P_PID, ended, &info, WEXITED | WNOWAIT);
  {
    Guard guard;
    ::kill(guard.pid(), SIGKILL);
    while (!guard.has_died()) ::usleep(1000);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_NPROC, &none);
    if (::geteuid() == 0 && ::setuid(65534) != 0) return false;
    try {
      guard.restart();
      return false;
    } catch (const std::runtime_error&) {
    }
    if (!guard.has_died()) return false;
    ::alarm(10);  // ends this process if the destructor waits for the running child
  }
  int status = 0;
  return ::waitpid(ended, &status, 0) == ended && WEXITSTATUS(status) == 7;
}

TEST(Guard, does_not_wait_for_other_child_processes_if_the_guard_process_could_not_be_restarted) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(leaves_other_children_alone() ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Guard, the_function_keep_returns_false_while_the_store_for_affinities_is_full) {
  Guard guard;
  for (std::uint64_t key = 0; key < kMaxThreads; ++key) ASSERT_TRUE(guard.keep(key, {}));
  EXPECT_FALSE(guard.keep(kMaxThreads, {}));
  guard.drop(7);
  EXPECT_TRUE(guard.keep(kMaxThreads, {}));
}

}  // namespace
}  // namespace poise::juggle
