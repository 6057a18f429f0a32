// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/threads.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace poise::juggle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Threads, times_are_read_from_schedstat) {
  const auto time = parse_schedstat("1500000000 250000000 42\n");
  ASSERT_TRUE(time);
  EXPECT_DOUBLE_EQ(time->run_s, 1.5);
  EXPECT_DOUBLE_EQ(time->wait_s, 0.25);
  for (const char* text : {"", "1", "1 ", "a b c", "-1 2 3", " 1 2"})
    EXPECT_FALSE(parse_schedstat(text)) << text;
}

TEST(Threads, start_times_are_read_even_if_the_command_name_contains_brackets_and_blanks) {
  const std::string rest = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 20 21";
  EXPECT_EQ(parse_start_time("12 (sh)" + rest), 987654u);
  EXPECT_EQ(parse_start_time("12 (a) b ( 1 2)" + rest), 987654u);
  EXPECT_EQ(parse_parent("12 (a) b ( 7 8)" + rest), 1);
  EXPECT_EQ(parse_parent("12 (sh"), 0);
  for (const char* text : {"", "12 (sh", "12 (sh)", "12 (sh) S 1 2 3"})
    EXPECT_FALSE(parse_start_time(text)) << text;
}

TEST(Threads, parses_the_list_of_child_process_ids_that_the_kernel_prints) {
  EXPECT_THAT(parse_children("12 345 "), ElementsAre(12, 345));
  EXPECT_THAT(parse_children(""), IsEmpty());
}

TEST(Threads, the_first_scan_of_a_process_reports_each_of_its_threads_as_new) {
  // The finder excludes the process that runs it, so the test runs the finder in a child.
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ThreadFinder finder(parent, false, -1, 100);
    const std::size_t before = finder.scan().born.size();
    ::_exit(before >= 1 && finder.threads().size() == before ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

/// A child process that starts a grandchild. Both end when the test closes a pipe.
struct Family {
  Family() {
    if (::pipe(ends) != 0) throw std::runtime_error("pipe");
    child = ::fork();
    if (child != 0) {
      ::close(ends[0]);
      return;
    }
    ::close(ends[1]);
    if (::fork() == 0) wait_and_end();
    wait_and_end();
  }
  [[noreturn]] void wait_and_end() {
    char none;
    ::_exit(::read(ends[0], &none, 1) == 0 ? 0 : 1);
  }
  void end() {
    if (ends[1] >= 0) ::close(ends[1]);
    ends[1] = -1;
  }
  ~Family() {
    end();
    ::waitpid(child, nullptr, 0);
  }
  int ends[2];
  pid_t child;
};

TEST(Threads, threads_of_grandchildren_are_found) {
  Family family;
  ThreadFinder finder(family.child, false, -1, 100);
  for (int tries = 0; tries < 1000 && finder.threads().size() < 2; ++tries) {
    finder.scan();
    ::usleep(5000);
  }
  ASSERT_THAT(finder.threads(), SizeIs(2));
  EXPECT_THAT(finder.scan().born, IsEmpty());
  EXPECT_FALSE(finder.has_changed());
  for (const auto& [key, thread] : finder.threads()) {
    EXPECT_TRUE(read_time(thread));
    EXPECT_EQ(start_time_of(thread.process, thread.id), thread.start_time);
    EXPECT_EQ(thread.parent, thread.process == family.child ? ::getpid() : family.child);
  }
}

/// A child that waits for a command, carries it out, confirms, and waits until the test ends it.
struct Told {
  template <class Before, class Then>
  Told(Before before, Then then) {
    if (::pipe(tell) != 0 || ::pipe(say) != 0) throw std::runtime_error("pipe");
    child = ::fork();
    if (child != 0) return;
    before();
    await(say[1], tell[0]);
    then();
    await(say[1], tell[0]);
    ::_exit(0);
  }
  static void await(int say, int told) {
    char none = 0;
    if (::write(say, &none, 1) != 1 || ::read(told, &none, 1) != 1) ::_exit(1);
  }
  void hear() const {
    char none;
    ASSERT_EQ(::read(say[0], &none, 1), 1);
  }
  void go_on() const {
    char none = 0;
    ASSERT_EQ(::write(tell[1], &none, 1), 1);
    hear();
  }
  ~Told() {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    for (const int end : {tell[0], tell[1], say[0], say[1]}) ::close(end);
  }
  int tell[2], say[2];
  pid_t child;
};

/// A number in memory that is shared with child processes.
std::atomic<std::uint32_t>* shared_number() {
  void* const memory = ::mmap(nullptr, sizeof(std::atomic<std::uint32_t>), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("mmap");
  return static_cast<std::atomic<std::uint32_t>*>(memory);
}

enum Command : std::uint32_t { kNothing, kStart, kStarted, kEnd };

/// Starts threads each time that `told` becomes kStart, and ends them when `told` becomes kEnd.
[[noreturn]] void start_and_end_threads(std::atomic<std::uint32_t>& told, std::size_t num_threads) {
  const auto await = [&](std::uint32_t what) {
    while (told != what) ::usleep(100);
  };
  for (;;) {
    await(kStart);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < num_threads; ++t) threads.emplace_back([&] { await(kEnd); });
    told = kStarted;
    for (std::thread& thread : threads) thread.join();
    told = kNothing;
  }
}

TEST(Threads, threads_of_a_process_that_started_after_the_last_scan_are_found) {
  const Told told([] {},
                  [] {
                    if (::fork() == 0)
                      ::_exit(0);  // becomes a zombie: its exit status is not collected
                  });
  told.hear();
  ThreadFinder finder(told.child, false, -1, 100);
  EXPECT_THAT(finder.scan().born, SizeIs(1));
  EXPECT_THAT(finder.scan().born, IsEmpty());
  told.go_on();
  EXPECT_THAT(finder.scan().born, SizeIs(1));
  EXPECT_THAT(finder.threads(), SizeIs(2));
}

TEST(Threads,
     the_function_has_new_child_returns_true_from_the_fork_until_a_scan_has_found_the_child) {
  const Told told([] {},
                  [] {
                    if (::fork() == 0) ::_exit(0);
                  });
  told.hear();
  ThreadFinder finder(told.child, false, -1, 100);
  const std::uint64_t key = finder.scan().born.at(0);
  EXPECT_FALSE(finder.has_new_child(key));
  told.go_on();
  EXPECT_TRUE(finder.has_new_child(key));
  finder.scan();
  EXPECT_FALSE(finder.has_new_child(key));
  EXPECT_FALSE(finder.has_new_child(key + 1000)) << "there is no such thread";
}

TEST(Threads, a_thread_that_reuses_the_id_of_an_ended_thread_counts_as_new) {
  std::optional<std::thread> one, other;
  std::atomic<bool> may_end = false;
  const Told told([&] { one.emplace([&] { may_end.wait(false); }); },
                  [&] {
                    may_end = true;
                    may_end.notify_one();
                    one->join();
                    other.emplace([] { ::pause(); });
                  });
  told.hear();
  ThreadFinder finder(told.child, false, -1, 100);
  const auto first = finder.scan().born;
  ASSERT_THAT(first, SizeIs(2));
  told.go_on();
  Changes all;
  for (int tries = 0; tries < 1000 && all.died.empty(); ++tries) {  // threads vanish with a delay
    const Changes changes = finder.scan();
    all.born.insert(all.born.end(), changes.born.begin(), changes.born.end());
    all.died.insert(all.died.end(), changes.died.begin(), changes.died.end());
    ::usleep(1000);
  }
  EXPECT_THAT(all.died, ElementsAre(first[1]));
  EXPECT_THAT(all.born, SizeIs(1));
}

TEST(Threads, threads_of_a_process_that_changes_its_user_are_dropped) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may become another user";
  constexpr uid_t kNobody = 65534;
  const Told told([] {}, [] { static_cast<void>(::setuid(kNobody) == 0); });
  told.hear();
  ThreadFinder finder(told.child, false, -1, 100);
  EXPECT_FALSE(finder.is_ours(told.child)) << "it was not found yet";
  finder.scan();
  EXPECT_TRUE(finder.is_ours(told.child));
  told.go_on();
  EXPECT_FALSE(finder.is_ours(told.child));
}

TEST(Threads, cpu_times_can_be_read_from_counters_instead_of_an_outdated_schedstat) {
  const Family family;
  ThreadFinder finder(family.child, false, -1, 100);
  finder.count_run_times();
  for (int tries = 0; tries < 1000 && finder.threads().size() < 2; ++tries) {
    finder.scan();
    ::usleep(5000);
  }
  if (finder.lacks_clocks()) GTEST_SKIP() << "nothing can be counted here";
  ASSERT_THAT(finder.threads(), SizeIs(2));
  for (const auto& [key, thread] : finder.threads()) {
    EXPECT_TRUE(thread.clock);
    const auto time = read_time(thread);
    ASSERT_TRUE(time);
    EXPECT_GE(time->run_s, thread.run_before_clock_s);
  }
}

TEST(Threads, a_thread_that_starts_while_the_threads_of_its_process_are_listed_is_found) {
  constexpr std::size_t kThreads = 4;
  std::atomic<std::uint32_t>& told = *shared_number();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) start_and_end_threads(told, kThreads);
  ThreadFinder finder(child, false, -1, 100);
  std::size_t least = kThreads + 1;
  for (int burst = 0; burst < 500; ++burst) {
    told = kStart;
    while (told != kStarted) finder.scan();
    finder.scan();
    least = std::min(least, finder.threads().size());
    told = kEnd;
    while (told != kNothing || finder.threads().size() > 1) finder.scan();
  }
  EXPECT_EQ(least, kThreads + 1) << "a thread was overlooked";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(Threads, reports_that_the_limit_of_open_files_is_too_low_to_follow_all_threads) {
  const Family family;
  ThreadFinder all(family.child, false, -1, 100);
  for (int tries = 0; tries < 1000 && all.threads().size() < 2; ++tries, ::usleep(5000)) all.scan();
  const Descriptor next(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  for (rlim_t few = 0; few < 12; ++few) {
    ThreadFinder finder(family.child, false, -1, 100);
    const rlimit low{next.get() + few, before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &low);
    finder.scan();
    // Affinities are restored only if start times can be read.
    const bool can_restore = start_time_of(family.child, family.child).has_value();
    ::setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_EQ(finder.lacks_files(), finder.threads().size() < 2) << few;
    EXPECT_TRUE(can_restore || finder.threads().empty()) << few;
  }
}

TEST(Threads, no_cpu_time_is_returned_for_a_thread_that_has_ended) {
  auto family = std::make_unique<Family>();
  ThreadFinder finder(family->child, false, -1, 100);
  const pid_t family_root = family->child;
  finder.scan();
  ASSERT_FALSE(finder.threads().empty());
  family.reset();  // waits for the child
  for (const auto& [key, thread] : finder.threads())
    EXPECT_TRUE(thread.process != family_root || !read_time(thread));
  EXPECT_FALSE(finder.scan().died.empty());
  EXPECT_THAT(finder.threads(), IsEmpty());
}

TEST(Threads, the_most_recently_assigned_process_id_changes_whenever_a_process_starts) {
  const LastBorn last_born;
  const auto before = last_born.id();
  ASSERT_TRUE(before);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  EXPECT_NE(last_born.id(), before);
}

TEST(Threads, threads_beyond_the_maximum_number_are_ignored) {
  Family family;
  ThreadFinder finder(family.child, false, -1, 0);
  EXPECT_THAT(finder.scan().born, IsEmpty());
  EXPECT_TRUE(finder.is_full());
}

}  // namespace
}  // namespace poise::juggle
