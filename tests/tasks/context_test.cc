// SPDX-License-Identifier: BSD-3-Clause
// Tests of the context on several ranks. All ranks of MPI_COMM_WORLD run each test.
#include "runtimes/tasks/context.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/tasks/ranks.h"

namespace poise::tasks {
namespace {

using testing::HasSubstr;

std::atomic<std::uint64_t> runs{0};

const auto kTriple = function("triple", [](std::span<const std::uint64_t> x,
                                           std::span<std::uint64_t> y, std::uint64_t add, int us) {
  std::this_thread::sleep_for(std::chrono::microseconds(us));
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = 3 * x[i] + add;
});
const auto kIncrement = function("increment", [](std::span<std::uint64_t> x) {
  for (auto& value : x) ++value;
});
const auto kCount = function("count", [](int) { ++runs; });
const auto kSleep = function("sleep", [](int us) {
  std::this_thread::sleep_for(std::chrono::microseconds(us));
  return static_cast<int>(Context::current().rank());
});
const auto kSleepOverData = function("sleep over data", [](std::span<const char>, int us) {
  std::this_thread::sleep_for(std::chrono::microseconds(us));
});
const auto kLook = function("look", [](std::span<const double> x, std::span<char> y) {
  return (x.data() ? 1 : 0) + (x.size() ? 2 : 0) + (y.data() ? 4 : 0) + (y.size() ? 8 : 0) +
         100 * static_cast<int>(Context::current().rank());
});
const auto kTakeNothing = function("take nothing", [] { ++runs; });
const auto kGiveNothing = function("give nothing", [](std::span<const double>) { ++runs; });

struct Unreadable {
  int magic = 0;
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(magic);
    if constexpr (Archive::is_loading) throw std::runtime_error("no magic number");
  }
};
const auto kGiveUnreadable = function("give unreadable", [] { return Unreadable(); });

struct Story {
  std::string title;
  std::vector<std::string> words;
  int number = 0;
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(title, words, number);
  }
};
// Returns the given Story with a longer title, and with the number of the rank that runs the task.
const auto kRetell = function("retell", [](Story story, const std::string& how) {
  std::this_thread::sleep_for(std::chrono::microseconds(500));
  story.title = fmt::format("{}: {}", how, story.title);
  story.number = static_cast<int>(Context::current().rank());
  return story;
});
const auto kFailWithText = function("fail with text", [](const std::vector<int>& numbers) {
  if (numbers.size() == 2) throw std::runtime_error("two numbers");
  return std::string("a text");
});

// A function that checks its literal arguments. Each must be aligned for its type, and every byte
// of the first argument must be 1, every byte of the second 2, and so on.
const FunctionId kLiterals =
    register_function("literals", "any", [](std::span<const Item> literals) {
      for (std::size_t i = 0; i < literals.size(); ++i) {
        const auto* const bytes = static_cast<const unsigned char*>(literals[i].data);
        const std::size_t size = literals[i].bytes;
        if (reinterpret_cast<std::uintptr_t>(bytes) % std::min<std::size_t>(size, 16) != 0)
          throw std::runtime_error("a literal's place is odd");
        if (std::count(bytes, bytes + size, i + 1) != static_cast<std::ptrdiff_t>(size))
          throw std::runtime_error("a literal has changed");
      }
    });

extern const Function<void, int> kTree;
void tree(int generations) {
  ++runs;
  for (int i = 0; i < 2 && generations > 0; ++i) Context::current().submit(kTree, generations - 1);
}
const Function<void, int> kTree = function("tree", tree);

extern const Function<std::uint64_t, int> kFibonacci;
std::uint64_t fibonacci(int n) {
  if (n < 2) {
    stay_until_enough_have_left();
    return static_cast<std::uint64_t>(n);
  }
  auto& context = Context::current();
  const auto a = context.submit(says_when_it_leaves(), kFibonacci, n - 1);
  const auto b = context.submit(says_when_it_leaves(), kFibonacci, n - 2);
  context.wait();
  return a.get() + b.get();
}
const Function<std::uint64_t, int> kFibonacci = function("fibonacci", fibonacci);

// Submits tasks that triple vectors of `length` numbers, waits, and checks every output.
void check_triples(Context& context, std::size_t num_tasks, std::size_t length, int us = 0) {
  std::vector<std::vector<std::uint64_t>> x(num_tasks), y(num_tasks);
  for (std::size_t t = 0; t < num_tasks; ++t) {
    x[t].resize(length);
    std::iota(x[t].begin(), x[t].end(), 1000 * t);
    y[t].resize(length);
    context.submit(us > 0 ? says_when_it_leaves() : With{}, kTriple, in(x[t]), out(y[t]), t, us);
  }
  context.wait();
  for (std::size_t t = 0; t < num_tasks; ++t)
    for (std::size_t i = 0; i < length; ++i) ASSERT_EQ(y[t][i], 3 * x[t][i] + t);
}

class Settings : public testing::TestWithParam<std::string> {};

TEST_P(Settings, tasks_give_correct_outputs_with_each_tested_setting) {
  Context context(MPI_COMM_WORLD, {.settings = GetParam()});
  for (int wait = 0; wait < 3; ++wait) {
    check_triples(context, 50, 10);
    check_triples(context, context.rank() == 0 ? 400 : 0, 10);
    check_triples(context, context.rank() == context.num_ranks() - 1 ? 20 : 0, 10000);
  }
  EXPECT_EQ(context.counters().submitted, context.counters().ran_own + context.counters().returned);
}

TEST_P(Settings, long_tasks_are_lent_unless_the_settings_forbid_lending) {
  Context context(MPI_COMM_WORLD, {.settings = GetParam()});
  const bool lends = context.num_ranks() > 1 && GetParam() != "policy=none";
  const bool first = context.rank() == 0;
  check_triples(context, first ? 2 : 0, 10, 1000);  // so that the rank knows how long tasks take
  std::uint64_t returned_before = sum_over_ranks(context.counters().returned);
  for (const std::size_t length : {10u, 10000u}) {
    if (first && lends) keep_threads_until_one_has_left(context);
    check_triples(context, first ? 20 : 0, length, 1000);
    const std::uint64_t returned = sum_over_ranks(context.counters().returned);
    EXPECT_EQ(returned > returned_before, lends);
    EXPECT_EQ(sum_over_ranks(context.counters().ran_borrowed), returned);
    returned_before = returned;
  }
}

TEST_P(Settings, wait_also_waits_for_tasks_that_were_submitted_by_tasks) {
  Context context(MPI_COMM_WORLD, {.threads = 2, .settings = GetParam()});
  for (int wait = 0; wait < 3; ++wait) {
    runs = 0;
    meet();
    if (context.rank() == 0) context.submit(kTree, 10);
    context.wait();
    EXPECT_EQ(sum_over_ranks(runs), 2047u);
  }
}

INSTANTIATE_TEST_SUITE_P(Context, Settings,
                         testing::Values("", "policy=paired,max_tasks=10", "policy=lightest",
                                         "policy=none", "pull=0", "push=0",
                                         "large_bytes=1,chunk_bytes=100,shared_bytes=0",
                                         "large_bytes=1", "shared_bytes=0",
                                         "poll_us=0,batch_bytes=1", "delay_us=300",
                                         "delay_us=300,shared_bytes=0"));

TEST(Context, every_rank_runs_some_tasks_even_if_one_rank_submits_all_tasks) {
  EXPECT_TRUE(happens_in_some_round([] {
    Context context(MPI_COMM_WORLD);
    std::vector<Future<int>> ran_on;
    for (int t = 0; t < 60 && own_rank() == 0; ++t) ran_on.push_back(context.submit(kSleep, 1000));
    context.wait();
    std::set<int> ranks;
    for (const auto& rank : ran_on) ranks.insert(rank.get());
    return own_rank() > 0 || ranks.size() == context.num_ranks();
  }));
}

// Returns whether each rank has run a task that rank 0 submitted.
bool retell_stories() {
  Context context(MPI_COMM_WORLD, {.settings = "large_bytes=2000"});
  std::vector<Future<Story>> stories;
  std::vector<Future<std::string>> failed;
  for (std::size_t t = 0; t < 60 && own_rank() == 0; ++t) {
    Story story{"story", {}, static_cast<int>(t)};
    for (std::size_t word = 0; word < 10 * t; ++word) story.words.push_back(fmt::format("w{}", t));
    stories.push_back(context.submit(kRetell, story, "once"));
    if (t % 20 == 0) failed.push_back(context.submit(kFailWithText, std::vector<int>{1, 2}));
  }
  try {
    context.wait();
    EXPECT_NE(own_rank(), 0);
  } catch (const TaskFailed& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("two numbers"));
  }
  std::set<int> ran_on;
  for (std::size_t t = 0; t < stories.size(); ++t) {
    const Story& story = stories[t].get();
    EXPECT_EQ(story.title, "once: story");
    EXPECT_EQ(story.words, std::vector<std::string>(10 * t, fmt::format("w{}", t)));
    ran_on.insert(story.number);
  }
  for (const auto& text : failed) EXPECT_FALSE(text.ready());
  return own_rank() > 0 || ran_on.size() == context.num_ranks();
}

TEST(Context, arguments_and_results_of_tasks_can_have_any_serializable_type) {
  EXPECT_TRUE(happens_in_some_round(retell_stories));
}

TEST(Context, wait_reports_a_result_that_cannot_be_read) {
  Context context(MPI_COMM_WORLD);
  const Future<Unreadable> result = context.submit(kGiveUnreadable);
  try {
    context.wait();
    FAIL() << "the result was read";
  } catch (const TaskFailed& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("reading the result: no magic number"));
  }
  EXPECT_FALSE(result.ready());
}

TEST(Context, the_summary_shows_the_loans_and_steal_requests_of_each_rank) {
  Context context(MPI_COMM_WORLD);
  for (int t = 0; t < 60 && own_rank() == 0; ++t) context.submit(kSleep, 1000);
  context.wait();
  const Counters counters = context.counters();
  EXPECT_EQ(counters.lent > 0, counters.lent_to_one > 0);
  EXPECT_LE(counters.lent_to_one, counters.lent);
  EXPECT_LE(counters.answers, counters.loans);
  EXPECT_EQ(counters.lent + counters.ran_borrowed > 0, counters.transfer_s > 0);
  if (counters.lent > 0) {
    EXPECT_NE(counters.most_to, context.rank());
  }
  const std::string text = context.summary();
  EXPECT_EQ(text.empty(), own_rank() > 0);
  if (own_rank() == 0) {
    EXPECT_THAT(text, HasSubstr("most to"));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), count_ranks() + 1);
  }
}

TEST(Context, arguments_passed_by_value_are_aligned_for_their_type) {
  Context context(MPI_COMM_WORLD, {.settings = "min_gain=0"});
  const std::vector<std::vector<std::size_t>> sizes = {
      {4, 8}, {8, 4, 4}, {1, 2, 4, 8}, {1, 8, 2, 16, 1}, {8, 8, 8}, {1, 1, 1, 1, 1, 8}};
  for (int t = 0; t < 200 && own_rank() == 0; ++t) {
    std::vector<std::vector<char>> literals;
    std::vector<Item> items;
    for (const std::size_t size : sizes[static_cast<std::size_t>(t) % sizes.size()]) {
      literals.emplace_back(size, static_cast<char>(literals.size() + 1));
      items.push_back({nullptr, size, Mode::literal});
    }
    for (std::size_t i = 0; i < items.size(); ++i) items[i].data = literals[i].data();
    context.submit(With{}, kLiterals, items);
  }
  EXPECT_NO_THROW(context.wait());
}

TEST(Context, never_lends_pinned_tasks) {
  Context context(MPI_COMM_WORLD, {.threads = 2});
  std::vector<Future<int>> ran_on;
  for (int t = 0; t < 40 && own_rank() == 0; ++t)
    ran_on.push_back(context.submit(With{.pinned = true}, kSleep, 200));
  context.wait();
  for (const auto& rank : ran_on) EXPECT_EQ(rank.get(), 0);
}

TEST(Context, a_task_can_wait_for_the_tasks_that_it_submitted) {
  Context context(MPI_COMM_WORLD, {.threads = 2});
  still_to_leave = 0;
  const int n = context.rank() % 2 ? 13 : 12;
  const auto result = context.submit(kFibonacci, n);
  context.wait();
  EXPECT_EQ(result.get(), n == 13 ? 233u : 144u);
}

TEST(Context, a_task_can_wait_for_child_tasks_that_other_ranks_run) {
  Context context(MPI_COMM_WORLD, {.threads = 2});
  still_to_leave = context.rank() == 0 && context.num_ranks() > 1 ? 1 : 0;
  meet();  // so that each rank sets still_to_leave before tasks of other ranks arrive
  Future<std::uint64_t> result;
  if (context.rank() == 0) result = context.submit(With{.pinned = true}, kFibonacci, 12);
  context.wait();
  if (context.rank() > 0) return;
  EXPECT_EQ(context.counters().returned > 0, context.num_ranks() > 1);
  EXPECT_EQ(result.get(), 144u);
}

TEST(Context, lends_tasks_with_empty_or_null_arrays_or_without_arrays) {
  Context context(MPI_COMM_WORLD,
                  {.settings = "progress_thread=off", .policy = all_to_the_last_rank()});
  const std::vector<double> some(3);
  std::vector<char> bytes(2);
  const std::span<const double> null;
  std::vector<Future<int>> looks;
  runs = 0;
  meet();
  if (context.rank() == 0) keep_threads_until_one_has_left(context);
  for (int t = 0; t < 100 && context.rank() == 0; ++t) {
    looks.push_back(context.submit(kLook, in(some), out(bytes)));
    looks.push_back(context.submit(kLook, in(null), out(std::span<char>())));
    looks.push_back(
        context.submit(kLook, in(std::span(some).first(0)), out(std::span(bytes).first(0))));
    context.submit(kTakeNothing);
    context.submit(kGiveNothing, in(null));
    context.submit(says_when_it_leaves(), kGiveNothing, in(some));
  }
  context.wait();
  const int last = static_cast<int>(context.num_ranks()) - 1;
  for (std::size_t t = 0; t < looks.size(); t += 3) {
    EXPECT_EQ(looks[t].get(), 15 + 100 * last);
    EXPECT_EQ(looks[t + 1].get(), 0 + 100 * last);
    EXPECT_EQ(looks[t + 2].get(), 5 + 100 * last);
  }
  EXPECT_EQ(runs, own_rank() == last ? 300u : 0u);
}

TEST(Context, runs_a_hundred_thousand_tasks_submitted_before_one_wait) {
  Context context(MPI_COMM_WORLD);
  runs = 0;
  meet();
  for (int t = 0; t < 100000 && own_rank() == 0; ++t) context.submit(kCount, t);
  context.wait();
  EXPECT_EQ(sum_over_ranks(runs), 100000u);
}

TEST(Context, calls_the_on_finish_callback_of_each_task_once_before_wait_returns) {
  Context context(MPI_COMM_WORLD, {.threads = 2, .settings = more_threads()});
  std::vector<std::uint64_t> x(500), seen(500);
  std::vector<std::atomic<int>> calls(500);
  for (std::size_t t = 0; t < x.size(); ++t)
    context.submit({.on_finish = [&, t] { ++calls[t], seen[t] = x[t]; }}, kIncrement,
                   inout(std::span(&x[t], 1)));
  context.wait();
  for (std::size_t t = 0; t < x.size(); ++t) {
    EXPECT_EQ(calls[t], 1);
    EXPECT_EQ(seen[t], 1u);
  }
}

const auto kAffine = function(
    "affine", [](std::span<std::uint64_t> x, std::span<const std::uint64_t> by, std::uint64_t add) {
      for (auto& value : x) value = value * by[0] + add;
    });

// Each task has 1 MiB of data and batch_bytes is 7 MiB, so at most seven tasks wait at a borrower
// while one runs. The test allows 40 tasks per borrower, because this rank learns only with a delay
// that a task has ended.
TEST(Context, the_setting_batch_bytes_limits_the_total_data_size_of_tasks_queued_at_a_borrower) {
  Context context(MPI_COMM_WORLD, {.settings = "batch_bytes=7340032"});
  const std::vector<char> data(1 << 20);
  std::atomic<int> away{0}, most_away{0};
  std::vector<char> lent(400);
  for (std::size_t t = 0; t < lent.size() && own_rank() == 0; ++t) {
    With with;
    with.on_lend = [&, t](std::span<Item>) {
      lent[t] = 1;
      most_away = std::max(most_away.load(), ++away);
    };
    with.on_finish = [&, t] { away -= lent[t]; };
    context.submit(std::move(with), kSleepOverData, in(data), 1000);
  }
  context.wait();
  EXPECT_EQ(away, 0);
  EXPECT_LE(most_away, 40 * (count_ranks() - 1));
}

TEST(Context, runs_ordered_tasks_on_the_same_data_in_the_order_of_submission) {
  for (const unsigned threads : {1u, 3u}) {
    Context context(MPI_COMM_WORLD, {threads, "poll_us=0"});
    std::vector<std::vector<std::uint64_t>> rows(8, std::vector<std::uint64_t>(50, 1)),
        expected(rows);
    std::vector<std::uint64_t> factor = {3}, expected_factor(factor);
    for (std::uint64_t step = 0; step < 30 && own_rank() == 0; ++step) {
      for (std::size_t row = 0; row < rows.size(); ++row) {
        context.submit({.ordered = true}, kAffine, inout(rows[row]), in(factor), step);
        for (auto& value : expected[row]) value = value * expected_factor[0] + step;
      }
      context.submit({.ordered = true}, kIncrement, inout(factor));
      ++expected_factor[0];
    }
    context.wait();
    EXPECT_EQ(rows, expected);
    EXPECT_EQ(factor, expected_factor);
  }
}

TEST(Context, several_contexts_can_exist_at_the_same_time) {
  Context a(MPI_COMM_WORLD, {.threads = 2}), b(MPI_COMM_WORLD);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, own_rank() % 2, 0, &half);
  {
    Context c(half);
    check_triples(a, a.rank() == 0 ? 100 : 0, 5);
    check_triples(c, c.rank() == 0 ? 100 : 0, 5);
    check_triples(b, 20, 5);
  }
  MPI_Comm_free(&half);
}

TEST(Context, several_threads_can_wait_for_the_tasks_of_one_context) {
  if (!may_any_thread_call_mpi()) GTEST_SKIP() << "only the main thread may call MPI";
  Context context(MPI_COMM_WORLD);
  runs = 0;
  meet();
  std::vector<std::thread> team;
  for (int i = 0; i < 3; ++i)
    team.emplace_back([&, i] {
      for (int wait = 0; wait < 3; ++wait) {
        std::this_thread::sleep_for(std::chrono::milliseconds(i));
        for (int t = 0; t < 100; ++t) context.submit(kCount, t);
        context.wait(3);
      }
    });
  for (auto& thread : team) thread.join();
  EXPECT_EQ(sum_over_ranks(runs), 900u * context.num_ranks());
}

TEST(Context, the_destructor_waits_until_all_tasks_have_run) {
  runs = 0;
  meet();
  {
    Context context(MPI_COMM_WORLD);
    for (int t = 0; t < 10; ++t) context.submit(kCount, t);
  }
  EXPECT_EQ(sum_over_ranks(runs), 10u * static_cast<unsigned>(count_ranks()));
}

}  // namespace
}  // namespace poise::tasks
