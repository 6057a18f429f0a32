// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/wait_watch.h"

#include <chrono>
#include <condition_variable>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <limits>
#include <linux/futex.h>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "runtimes/juggle/waiting.h"
#include "tests/support/seeds.h"
#include "tests/support/test_folder.h"

namespace poise::juggle {
namespace {

constexpr int kMaxWaitMs = 60'000;  // on a busy machine a process starts late

bool has_news(const WaitWatch& watch, int timeout_ms) {
  pollfd news{watch.descriptor(), POLLIN, 0};
  return ::poll(&news, 1, timeout_ms) == 1;
}

/// Waits for ever. In a function with destructors, a thread cannot be cancelled asynchronously
/// while it calls a C function that is declared noexcept. So the code with destructors is in this
/// function, and the calls to C functions are in wait_by().
[[gnu::noinline]] void wait_in_cpp() {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  for (;;) condition.wait_for(lock, std::chrono::hours(1));
}

/// Waits for ever in the blocking call that `call` names.
void wait_by(const std::string& call) {
  constexpr timespec kNever{.tv_sec = std::numeric_limits<std::int32_t>::max(), .tv_nsec = 0};
  if (call == "barrier") {
    pthread_barrier_t barrier;
    ::pthread_barrier_init(&barrier, nullptr, 2);
    ::pthread_barrier_wait(&barrier);
  } else if (call == "condition") {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    ::pthread_mutex_lock(&mutex);
    for (;;) ::pthread_cond_wait(&condition, &mutex);
  } else if (call == "semaphore") {
    sem_t semaphore;
    ::sem_init(&semaphore, 0, 0);
    ::sem_wait(&semaphore);
  } else if (call == "condition_until") {
    wait_in_cpp();
  } else if (call == "semaphore_until") {
    sem_t semaphore;
    ::sem_init(&semaphore, 0, 0);
    ::sem_timedwait(&semaphore, &kNever);
  } else if (call == "futex") {
    std::uint32_t word = 0;
    ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
  } else {
    for (;;) ::sched_yield();
  }
}

sigjmp_buf outside_wait;

/// Leaves a wait by siglongjmp as soon as SIGUSR1 arrives, then completes another wait, and prints
/// that it has done so.
void leave_a_wait() {
  ::signal(SIGUSR1, [](int) { ::siglongjmp(outside_wait, 1); });
  if (sigsetjmp(outside_wait, 1) == 0) wait_by("semaphore");
  sem_t semaphore;
  ::sem_init(&semaphore, 0, 1);
  ::sem_wait(&semaphore);
  std::puts("left");
  std::fflush(stdout);
  for (;;) ::pause();
}

/// Loads a library whose constructor waits for another thread.
void load_library() {
  EXPECT_EQ(::dlopen("/nowhere/missing.so", RTLD_NOW), nullptr);
  ::sched_yield();
  EXPECT_NE(::dlerror(), nullptr) << "the preloaded library has taken the program's error";
  EXPECT_NE(::dlopen(POISE_LIBRARY_WITH_THREAD, RTLD_NOW), nullptr) << ::dlerror();
  std::puts("loaded");
  std::fflush(stdout);
}

void* run_given_call(void*) {
  const std::string call = std::getenv("WAITS_BY");
  std::printf("thread %d\n", static_cast<int>(::syscall(SYS_gettid)));
  std::fflush(stdout);
  if (call == "load") return load_library(), nullptr;
  ::pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
  if (call == "longjmp") leave_a_wait();
  wait_by(call);
  return nullptr;
}

/// Disabled because it does not end by itself: its thread waits for ever, and the test cancels the
/// thread only when SIGTERM arrives. PreloadedProgram starts this test in a process of its own and
/// ends it.
TEST(Preloaded, DISABLED_a_helper_process_of_other_tests_waits_for_ever_in_a_given_call) {
  sigset_t term;
  ::sigemptyset(&term);
  ::sigaddset(&term, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &term, nullptr);
  pthread_t thread;
  ASSERT_EQ(::pthread_create(&thread, nullptr, run_given_call, nullptr), 0);
  int signal;
  ::sigwait(&term, &signal);
  ::pthread_cancel(thread);
  EXPECT_EQ(::pthread_join(thread, nullptr), 0);
}

TEST(Preloaded,
     the_preloaded_library_calls_an_allocator_only_after_the_allocator_has_initialised_itself) {
  POISE_SKIP_IF_SLOW();  // skipped with sanitizers, because these have allocators of their own
  const std::string command = fmt::format("env LD_PRELOAD={}:{} true", POISE_JUGGLE_WAITS_LIBRARY,
                                          POISE_STARTING_ALLOCATOR);
  EXPECT_EQ(std::system(command.c_str()), 0);
}

/// This test program in a process of its own, started with the preloaded library.
class PreloadedProgram {
 public:
  PreloadedProgram(const WaitWatch& watch, const char* call) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    const Environment variables = watch.environment();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
      ::setenv("WAITS_BY", call, 1);
      ::alarm(kMaxWaitMs / 1000);
      ::execl("/proc/self/exe", "juggle_test", "--gtest_also_run_disabled_tests",
              "--gtest_filter=Preloaded.*", nullptr);
      ::_exit(1);
    }
    ::close(ends[1]);
    said_ = ::fdopen(ends[0], "r");
  }
  ~PreloadedProgram() {
    if (pid_ > 0) end_by(SIGKILL);
    std::fclose(said_);
  }
  PreloadedProgram(const PreloadedProgram&) = delete;
  PreloadedProgram& operator=(const PreloadedProgram&) = delete;

  pid_t pid() const { return pid_; }
  /// Returns the id of the thread that waits, or 0 if the program does not print it.
  pid_t thread() const {
    int id = 0;
    std::sscanf(line_after("thread ").c_str(), "%d", &id);
    return id;
  }
  /// Waits for a line with this beginning, and returns the rest of it.
  std::string line_after(const std::string& beginning) const {
    char line[256];
    while (std::fgets(line, sizeof line, said_) != nullptr)
      if (std::string_view(line).starts_with(beginning)) return line + beginning.size();
    return "";
  }
  /// Sends a signal and returns the status with which the program ends.
  int end_by(int signal) {
    int status = 0;
    ::kill(pid_, signal);
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return status;
  }

 private:
  pid_t pid_ = -1;
  std::FILE* said_ = nullptr;
};

/// Returns false if the thread does not report that it waits.
bool comes_to_wait(WaitWatch& watch, pid_t thread) {
  for (;;) {  // other threads of the program may wait, too
    const auto report = watch.report_of(thread);
    if (report && is_waiting(*report, true)) return true;
    if (!has_news(watch, kMaxWaitMs)) return false;
    watch.take_news();
  }
}

class Calls : public testing::TestWithParam<const char*> {};

TEST_P(Calls, a_thread_that_waits_in_a_synchronization_call_is_reported_to_the_balancer) {
  WaitWatch watch(POISE_JUGGLE_WAITS_LIBRARY);
  const PreloadedProgram program(watch, GetParam());
  const pid_t thread = program.thread();
  ASSERT_NE(thread, 0);
  ASSERT_TRUE(comes_to_wait(watch, thread));
  EXPECT_TRUE(reports_waits(program.pid()));
}

TEST_P(Calls, a_thread_that_waits_in_a_synchronization_call_can_be_cancelled) {
  WaitWatch watch(POISE_JUGGLE_WAITS_LIBRARY);
  PreloadedProgram program(watch, GetParam());
  ASSERT_TRUE(comes_to_wait(watch, program.thread()));
  EXPECT_EQ(program.end_by(SIGTERM), 0);
}

INSTANTIATE_TEST_SUITE_P(All, Calls,
                         testing::Values("barrier", "condition", "condition_until", "semaphore",
                                         "semaphore_until", "futex", "yield"));

TEST(WaitWatch,
     a_thread_that_left_a_wait_by_longjmp_does_not_count_as_waiting_after_its_next_wait) {
  WaitWatch watch(POISE_JUGGLE_WAITS_LIBRARY);
  const PreloadedProgram program(watch, "longjmp");
  const pid_t thread = program.thread();
  ASSERT_TRUE(comes_to_wait(watch, thread));
  ::syscall(SYS_tgkill, program.pid(), thread, SIGUSR1);
  EXPECT_EQ(program.line_after("left"), "\n");
  EXPECT_FALSE(watch.report_of(thread)->is_inside);
}

TEST(WaitWatch, a_program_can_load_a_library_whose_constructor_waits_for_another_thread) {
  WaitWatch watch(POISE_JUGGLE_WAITS_LIBRARY);
  PreloadedProgram program(watch, "load");
  EXPECT_EQ(program.line_after("loaded"), "\n");
  EXPECT_EQ(program.end_by(SIGTERM), 0);
}

TEST(WaitWatch, returns_no_report_for_a_thread_that_has_reported_nothing) {
  WaitWatch watch(POISE_JUGGLE_WAITS_LIBRARY);
  EXPECT_FALSE(watch.report_of(::getpid()));
  EXPECT_FALSE(has_news(watch, 0));
}

TEST(WaitWatch, a_library_whose_path_cannot_be_listed_in_LD_PRELOAD_is_refused) {
  namespace fs = std::filesystem;
  for (const char* const name : {"with blank", "with:colon"}) {
    const TestFolder parent;
    const fs::path folder = parent.file(name);
    fs::create_directory(folder);
    const fs::path library = folder / "libpoise_juggle_waits.so";
    fs::create_symlink(POISE_JUGGLE_WAITS_LIBRARY, library);
    EXPECT_THROW(const WaitWatch watch(library), std::runtime_error) << library;
  }
}

TEST(WaitWatch, a_process_without_the_preloaded_library_counts_as_one_that_reports_no_waits) {
  EXPECT_FALSE(reports_waits(1));
}

TEST(WaitWatch, a_process_that_has_ended_counts_as_one_that_reports_its_waits) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(0);
  siginfo_t info;
  ::waitid(P_PID, child, &info, WEXITED | WNOWAIT);
  EXPECT_TRUE(reports_waits(child)) << "as a zombie";
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(reports_waits(child));
}

TEST(WaitWatch, throws_if_the_library_to_preload_does_not_exist) {
  EXPECT_THROW(WaitWatch("/nowhere/libpoise_juggle_waits.so"), std::runtime_error);
}

TEST(WaitTable, gives_a_thread_a_slot_unless_all_slots_probed_for_its_id_are_taken) {
  auto table = std::make_unique<WaitTable>();
  EXPECT_EQ(slot_of(*table, 5, false), nullptr);
  WaitSlot* const slot = slot_of(*table, 5, true);
  ASSERT_NE(slot, nullptr);
  EXPECT_EQ(slot_of(*table, 5, false), slot);
  // A thread whose search for a free slot begins at the same slot as the search of thread 5.
  const auto other = static_cast<pid_t>(5 + kWaitSlots);
  EXPECT_NE(slot_of(*table, other, true), slot);
  for (std::size_t i = 2; i < kWaitProbes; ++i)
    slot_of(*table, static_cast<pid_t>(5 + i * kWaitSlots), true);
  EXPECT_EQ(slot_of(*table, static_cast<pid_t>(5 + kWaitProbes * kWaitSlots), true), nullptr);
  slot->thread = 0;
  EXPECT_EQ(slot_of(*table, 5, false), nullptr);
  EXPECT_EQ(slot_of(*table, static_cast<pid_t>(5 + kWaitProbes * kWaitSlots), true), slot);
}

}  // namespace
}  // namespace poise::juggle
