// Tests of the context on several ranks: each is run by all ranks of MPI_COMM_WORLD.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <numeric>
#include <set>
#include <string>
#include <thread>

#include "runtimes/tasks/context.h"
#include "runtimes/tasks/post.h"
#include "runtimes/tasks/ranks_testing.h"
#include "tests/support/leaks.h"

#include "poise/base/random.h"

namespace poise::tasks {
namespace {

using testing::HasSubstr;

int my_rank = 0, num_ranks = 1, thread_level = 0;

std::string more_threads() {
  return thread_level >= MPI_THREAD_SERIALIZED ? "helper=on,helper_us=10" : "helper=off";
}

std::atomic<std::uint64_t> runs{0};

const auto kTriple = function(
    "triple", [](std::span<const std::uint64_t> x, std::span<std::uint64_t> y, std::uint64_t add) {
      for (std::size_t i = 0; i < x.size(); ++i) y[i] = 3 * x[i] + add;
    });
const auto kIncrement = function("increment", [](std::span<std::uint64_t> x) {
  for (auto& value : x) ++value;
});
const auto kCount = function("count", [](int) { ++runs; });
const auto kSleep = function("sleep", [](int us) {
  std::this_thread::sleep_for(std::chrono::microseconds(us));
  return my_rank;
});
const auto kNap = function("nap", [](std::span<const char>, int us) {
  std::this_thread::sleep_for(std::chrono::microseconds(us));
});
const auto kThrow = function("throw", [](int what) {
  if (what % 3 == 0) throw std::runtime_error("no luck with " + std::to_string(what));
  ++runs;
});
const auto kLook = function("look", [](std::span<const double> x, std::span<char> y) {
  return (x.data() ? 1 : 0) + (x.size() ? 2 : 0) + (y.data() ? 4 : 0) + (y.size() ? 8 : 0);
});

struct Story {
  std::string title;
  std::vector<std::string> words;
  int number = 0;
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(title, words, number);
  }
};
// The number becomes the rank that told it.
const auto kRetell = function("retell", [](Story story, const std::string& how) {
  std::this_thread::sleep_for(std::chrono::microseconds(500));
  story.title = fmt::format("{}: {}", how, story.title);
  story.number = my_rank;
  return story;
});
const auto kFailWithText = function("fail with text", [](const std::vector<int>& numbers) {
  if (numbers.size() == 2) throw std::runtime_error("two numbers");
  return std::string("a text");
});

// Each literal is to lie where its type may, and to be full of its position from 1.
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

const auto kKill = function("kill", [] { std::raise(SIGKILL); });

extern const Function<void, int> kTree;
void tree(int generations) {
  ++runs;
  for (int i = 0; i < 2 && generations > 0; ++i) Context::current().submit(kTree, generations - 1);
}
const Function<void, int> kTree = function("tree", tree);

extern const Function<std::uint64_t, int> kFibonacci;
std::uint64_t fibonacci(int n) {
  if (n < 2) return static_cast<std::uint64_t>(n);
  auto& context = Context::current();
  const auto a = context.submit(kFibonacci, n - 1), b = context.submit(kFibonacci, n - 2);
  context.wait();
  return a.get() + b.get();
}
const Function<std::uint64_t, int> kFibonacci = function("fibonacci", fibonacci);

// Submits on the given ranks, waits, and compares every output.
void check_triples(Context& context, bool submits, std::size_t num_tasks, std::size_t length) {
  std::vector<std::vector<std::uint64_t>> x(submits ? num_tasks : 0), y(x.size());
  for (std::size_t t = 0; t < x.size(); ++t) {
    x[t].resize(length);
    std::iota(x[t].begin(), x[t].end(), 1000 * t);
    y[t].resize(length);
    context.submit(kTriple, in(x[t]), out(y[t]), t);
  }
  context.wait();
  for (std::size_t t = 0; t < x.size(); ++t)
    for (std::size_t i = 0; i < length; ++i) ASSERT_EQ(y[t][i], 3 * x[t][i] + t);
}

class Settings : public testing::TestWithParam<std::string> {};

TEST_P(Settings, bring_every_output_home) {
  Context context(MPI_COMM_WORLD, {.settings = GetParam()});
  for (int wait = 0; wait < 3; ++wait) {
    check_triples(context, true, 50, 10);
    check_triples(context, my_rank == 0, 400, 10);
    check_triples(context, my_rank == num_ranks - 1, 20, 10000);
  }
  EXPECT_EQ(context.counters().submitted, context.counters().ran_own + context.counters().returned);
}

TEST_P(Settings, count_every_task_that_tasks_submit) {
  Context context(MPI_COMM_WORLD, {.threads = 2, .settings = GetParam()});
  for (int wait = 0; wait < 3; ++wait) {
    runs = 0;
    meet();
    if (my_rank == 0) context.submit(kTree, 10);
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

TEST(Context, lends_to_ranks_without_tasks) {
  Context context(MPI_COMM_WORLD);
  std::vector<Future<int>> ran_on;
  for (int t = 0; t < 60 && my_rank == 0; ++t) ran_on.push_back(context.submit(kSleep, 1000));
  context.wait();
  if (my_rank > 0) return;
  std::vector<int> tasks(static_cast<std::size_t>(num_ranks));
  for (const auto& rank : ran_on) ++tasks[static_cast<std::size_t>(rank.get())];
  for (const int count : tasks) EXPECT_GT(count, 0);
}

TEST(Context, takes_and_returns_what_an_archive_takes) {
  Context context(MPI_COMM_WORLD, {.settings = "large_bytes=2000"});
  std::vector<Future<Story>> stories;
  std::vector<Future<std::string>> failed;
  for (std::size_t t = 0; t < 60 && my_rank == 0; ++t) {
    Story story{"story", {}, static_cast<int>(t)};
    for (std::size_t word = 0; word < 10 * t; ++word) story.words.push_back(fmt::format("w{}", t));
    stories.push_back(context.submit(kRetell, story, "once"));
    if (t % 20 == 0) failed.push_back(context.submit(kFailWithText, std::vector<int>{1, 2}));
  }
  try {
    context.wait();
    EXPECT_NE(my_rank, 0);
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
  EXPECT_EQ(ran_on.size(), my_rank == 0 ? static_cast<std::size_t>(num_ranks) : 0);
  for (const auto& text : failed) EXPECT_FALSE(text.ready());
}

TEST(Context, sums_up_what_was_lent_to_whom_and_whether_they_asked) {
  Context context(MPI_COMM_WORLD);
  for (int t = 0; t < 60 && my_rank == 0; ++t) context.submit(kSleep, 1000);
  context.wait();
  const Counters counters = context.counters();
  EXPECT_EQ(counters.lent > 0, counters.lent_to_one > 0);
  EXPECT_LE(counters.lent_to_one, counters.lent);
  EXPECT_LE(counters.answers, counters.loans);
  EXPECT_EQ(counters.lent + counters.ran_borrowed > 0, counters.transfer_s > 0);
  if (counters.lent > 0) {
    EXPECT_NE(counters.most_to, static_cast<std::uint32_t>(my_rank));
  }
  const std::string text = context.summary();
  EXPECT_EQ(text.empty(), my_rank > 0);
  if (my_rank == 0) {
    EXPECT_THAT(text, HasSubstr("most to"));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), num_ranks + 1);
  }
}

TEST(Context, keeps_literals_of_all_sizes_where_their_types_may_lie) {
  Context context(MPI_COMM_WORLD, {.settings = "min_gain=0"});
  const std::vector<std::vector<std::size_t>> sizes = {
      {4, 8}, {8, 4, 4}, {1, 2, 4, 8}, {1, 8, 2, 16, 1}, {8, 8, 8}, {1, 1, 1, 1, 1, 8}};
  for (int t = 0; t < 200 && my_rank == 0; ++t) {
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

TEST(Context, refuses_costs_that_are_no_numbers_from_zero) {
  Context context(MPI_COMM_WORLD);
  for (const double cost : {-1.0, std::nan(""), HUGE_VAL})
    EXPECT_THROW(context.submit(With{.cost = cost}, kSleep, 1), Error);
  context.wait();
}

TEST(Context, keeps_pinned_tasks_at_home) {
  Context context(MPI_COMM_WORLD, {.threads = 2});
  std::vector<Future<int>> ran_on;
  for (int t = 0; t < 40 && my_rank == 0; ++t)
    ran_on.push_back(context.submit(With{.pinned = true}, kSleep, 200));
  context.wait();
  for (const auto& rank : ran_on) EXPECT_EQ(rank.get(), 0);
}

TEST(Context, waits_inside_tasks_for_the_tasks_submitted_there) {
  Context context(MPI_COMM_WORLD, {.threads = 2});
  const auto result = context.submit(kFibonacci, 12 + my_rank % 2);
  context.wait();
  EXPECT_EQ(result.get(), my_rank % 2 ? 233u : 144u);
}

TEST(Context, brings_exceptions_to_the_rank_that_submitted) {
  Context context(MPI_COMM_WORLD);
  runs = 0;
  meet();
  for (int t = 1; t <= 30 && my_rank == 0; ++t) context.submit(kThrow, t);
  std::string text;
  try {
    context.wait();
  } catch (const TaskFailed& failure) {
    text = failure.what();
  }
  if (my_rank == 0) {
    EXPECT_THAT(text, HasSubstr("a task of function \"throw\" failed on rank"));
    EXPECT_THAT(text, HasSubstr("no luck with "));
    EXPECT_THAT(text, HasSubstr("(and 9 more)"));
  } else {
    EXPECT_EQ(text, "");
  }
  EXPECT_EQ(sum_over_ranks(runs), 20u);
  context.wait();  // and all is well again
}

TEST(Context, passes_empty_and_null_items) {
  Context context(MPI_COMM_WORLD, {.settings = "poll_us=0"});
  const std::vector<double> some(3);
  std::vector<char> bytes(2);
  const std::span<const double> null;
  std::vector<Future<int>> looks;
  for (int t = 0; t < 100; ++t) {
    looks.push_back(context.submit(kLook, in(some), out(bytes)));
    looks.push_back(context.submit(kLook, in(null), out(std::span<char>())));
    looks.push_back(
        context.submit(kLook, in(std::span(some).first(0)), out(std::span(bytes).first(0))));
    context.submit(kSleep, 10);
  }
  context.wait();
  for (std::size_t t = 0; t < looks.size(); t += 3) {
    EXPECT_EQ(looks[t].get(), 15);
    EXPECT_EQ(looks[t + 1].get(), 0);
    EXPECT_EQ(looks[t + 2].get(), 5);
  }
}

TEST(Context, has_a_hundred_thousand_tasks_in_flight) {
  Context context(MPI_COMM_WORLD);
  runs = 0;
  meet();
  for (int t = 0; t < 100000 && my_rank == 0; ++t) context.submit(kCount, t);
  context.wait();
  EXPECT_EQ(sum_over_ranks(runs), 100000u);
}

TEST(Context, calls_on_finish_once_and_before_the_wait_ends) {
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

// Copies of a megabyte: seven wait at a rank, one is worked on, some are done of which this rank
// has not heard yet, and as many take their place.
TEST(Context, copies_no_more_data_ahead_than_keeps_others_busy) {
  Context context(MPI_COMM_WORLD, {.settings = "batch_bytes=7340032"});
  const std::vector<char> data(1 << 20);
  std::atomic<int> away{0}, most_away{0};
  std::vector<char> lent(400);
  for (std::size_t t = 0; t < lent.size() && my_rank == 0; ++t) {
    With with;
    with.on_lend = [&, t](std::span<Item>) {
      lent[t] = 1;
      most_away = std::max(most_away.load(), ++away);
    };
    with.on_finish = [&, t] { away -= lent[t]; };
    context.submit(std::move(with), kNap, in(data), 1000);
  }
  context.wait();
  EXPECT_EQ(away, 0);
  EXPECT_LE(most_away, 40 * (num_ranks - 1));
}

TEST(Context, keeps_the_order_of_tasks_on_the_same_data_wherever_they_run) {
  for (const unsigned threads : {1u, 3u}) {
    Context context(MPI_COMM_WORLD, {threads, "poll_us=0"});
    std::vector<std::vector<std::uint64_t>> rows(8, std::vector<std::uint64_t>(50, 1)),
        expected(rows);
    std::vector<std::uint64_t> factor = {3}, expected_factor(factor);
    for (std::uint64_t step = 0; step < 30 && my_rank == 0; ++step) {
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

TEST(Context, exists_several_times_at_once) {
  Context a(MPI_COMM_WORLD, {.threads = 2}), b(MPI_COMM_WORLD);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, my_rank % 2, 0, &half);
  {
    Context c(half);
    check_triples(a, my_rank == 0, 100, 5);
    check_triples(c, c.rank() == 0, 100, 5);
    check_triples(b, true, 20, 5);
  }
  MPI_Comm_free(&half);
}

TEST(Context, lets_a_team_of_threads_wait_together) {
  if (thread_level < MPI_THREAD_SERIALIZED) GTEST_SKIP() << "only the main thread may call MPI";
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
  EXPECT_EQ(sum_over_ranks(runs), 900u * static_cast<unsigned>(num_ranks));
}

TEST(Context, refuses_wrong_settings_everywhere) {
  for (const bool everywhere : {true, false}) {
    std::string text;
    try {
      Context context(MPI_COMM_WORLD,
                      {.settings = everywhere || my_rank == num_ranks - 1 ? "polcy=none" : ""});
    } catch (const Error& error) {
      text = error.what();
    }
    EXPECT_THAT(text, HasSubstr("did you mean \"policy\""));
  }
  EXPECT_THROW(Context(MPI_COMM_WORLD, {.threads = 0}), Error);
}

TEST(Context, refuses_environment_nonsense) {
  setenv("POISE_TASKS_MIN_GAIN", "lots", 1);
  EXPECT_THROW(Context context(MPI_COMM_WORLD), Error);
  unsetenv("POISE_TASKS_MIN_GAIN");
  setenv("POISE_TASKS_SPEED", "1", 1);
  EXPECT_THROW(Context context(MPI_COMM_WORLD), Error);
  unsetenv("POISE_TASKS_SPEED");
}

TEST(Context, refuses_functions_that_only_some_ranks_have) {
  if (num_ranks == 1) GTEST_SKIP() << "one rank agrees with itself";
  const auto only_here = [](int) {};
  if (my_rank == num_ranks - 1) function("only_here", only_here);
  std::string text;
  try {
    Context context(MPI_COMM_WORLD);
  } catch (const Error& error) {
    text = error.what();
  }
  EXPECT_THAT(text, HasSubstr("function \"only_here\" (value4 ) is registered on rank " +
                              std::to_string(num_ranks - 1) + " but not on rank 0"));
  if (my_rank < num_ranks - 1) function("only_here", only_here);
  Context context(MPI_COMM_WORLD);
}

TEST(Context, refuses_a_function_registered_too_late) {
  Context context(MPI_COMM_WORLD);
  static const auto late = function("late", [](int) {});
  EXPECT_THROW(context.submit(late, 1), Error);
}

TEST(Context, refuses_to_wait_where_nobody_could_call_mpi) {
  if (thread_level >= MPI_THREAD_SERIALIZED) GTEST_SKIP() << "any thread may";
  Context context(MPI_COMM_WORLD);
  std::thread([&] { EXPECT_THROW(context.wait(), Error); }).join();
}

TEST(Context, is_destroyed_without_a_wait) {
  runs = 0;
  meet();
  {
    Context context(MPI_COMM_WORLD);
    for (int t = 0; t < 10; ++t) context.submit(kCount, t);
  }
  EXPECT_EQ(sum_over_ranks(runs), 10u * static_cast<unsigned>(num_ranks));
}

// Tasks of random sizes that submit tasks; what each adds is known beforehand.
std::uint64_t digest(std::span<const std::uint64_t> data) {
  std::uint64_t sum = 0;
  for (const std::uint64_t value : data) sum = mix(sum ^ value);
  return sum;
}
const auto kDigest =
    function("digest", [](std::span<const std::uint64_t> data, std::span<std::uint64_t> copy) {
      std::copy(data.begin(), data.end(), copy.begin());
      if (data.size() % 4 == 0) Context::current().submit(kCount, 0);
      ++runs;
      return digest(data);
    });

// More than MPI counts in one message. Needs 10 GB, so only on request.
TEST(Context, lends_an_item_of_more_than_two_gigabytes) {
  if (!std::getenv("POISE_HUGE_ITEM")) GTEST_SKIP() << "set POISE_HUGE_ITEM to run it";
  constexpr std::size_t kLength = (std::size_t{1} << 31) / 8 + 1000;
  for (const char* settings : {"shared_bytes=0,min_gain=0", "min_gain=0"}) {
    Context context(MPI_COMM_WORLD, {.settings = settings});
    std::vector<std::uint64_t> numbers(my_rank == 0 ? kLength : 0, 7);
    Future<int> ran_on;
    for (int t = 0; t < 2 && my_rank == 0; ++t)
      context.submit(With{.pinned = true}, kSleep, 500000);
    if (my_rank == 0) context.submit(kIncrement, inout(numbers));
    context.wait();
    EXPECT_EQ(context.counters().lent, my_rank == 0 && num_ranks > 1 ? 1u : 0u);
    for (const std::uint64_t number : numbers) ASSERT_EQ(number, 8u);
  }
}

class Weather : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Context, Weather, testing::Values("", ",delay_us=2000"));

TEST_P(Weather, survives_random_tasks) {
  const char* const knob = std::getenv("POISE_STRESS_TASKS");
  const std::uint64_t num_tasks = knob ? std::strtoull(knob, nullptr, 10) : 8000;
  const char* const seed_knob = std::getenv("POISE_STRESS_SEED");
  const std::uint64_t seed = seed_knob ? std::strtoull(seed_knob, nullptr, 10) : 1;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(mix(seed + static_cast<unsigned>(my_rank)));
  Context context(
      MPI_COMM_WORLD,
      {.threads = 2, .settings = "large_bytes=1000,poll_us=1," + more_threads() + GetParam()});
  runs = 0;
  meet();
  std::uint64_t expected_runs = 0;
  for (std::uint64_t left = num_tasks / static_cast<unsigned>(num_ranks); left > 0;) {
    const std::uint64_t batch = std::min<std::uint64_t>(left, random.below(2) ? 4000 : 100);
    left -= batch;
    std::vector<std::vector<std::uint64_t>> data(batch), copies(batch);
    std::vector<Future<std::uint64_t>> digests;
    for (std::size_t t = 0; t < batch; ++t) {
      data[t].resize(random.below(random.below(50) ? 20 : 3000));
      for (auto& value : data[t]) value = random.bits();
      copies[t].resize(data[t].size());
      expected_runs += 1 + (data[t].size() % 4 == 0);
      digests.push_back(context.submit(kDigest, in(data[t]), out(copies[t])));
    }
    if (random.below(3) || left == 0) context.submit(kSleep, 100);
    // Ranks wait different numbers of times otherwise: all agree on going on.
    context.wait();
    for (std::size_t t = 0; t < batch; ++t) {
      ASSERT_EQ(digests[t].get(), digest(data[t]));
      ASSERT_EQ(copies[t], data[t]);
    }
    std::uint64_t most = left;
    reduce(MPI_COMM_WORLD, &most, 1, MPI_MAX);
    while (left == 0 && most > 0) {
      context.wait();
      most = left;
      reduce(MPI_COMM_WORLD, &most, 1, MPI_MAX);
    }
  }
  EXPECT_EQ(sum_over_ranks(runs), sum_over_ranks(expected_runs));
}

}  // namespace

// What the second rank sends is twice as long as the first one expects.
void truncate() {
  Post post(MPI_COMM_WORLD, std::size_t{1} << 20, 0);
  std::vector<std::byte> data(100000);
  const Large all{data.data(), data.size()}, half{data.data(), data.size() / 2};
  if (my_rank == 1) post.send(0, std::vector<std::byte>(64), {all}, nullptr);
  for (const double begin_s = MPI_Wtime(); MPI_Wtime() < begin_s + 20;)
    post.poll([&](const Post::Arrival& arrival) { post.fetch(arrival, {&half, 1}, [] {}); });
}

// The last rank comes late to a wait, or dies in a task: what the others say and do is checked from
// outside.
void run_into(std::string_view trouble) {
  if (trouble == "truncated") return truncate();
  Context context(MPI_COMM_WORLD, {.settings = "patience_s=0.2"});
  const bool last = my_rank == num_ranks - 1;
  if (trouble == "late" && last) std::this_thread::sleep_for(std::chrono::seconds(1));
  if (trouble == "killed" && last) context.submit({.pinned = true}, kKill);
  context.wait();
}

// Contexts where there is no MPI, before and after.
int run_without_mpi(int argc, char** argv) {
  const auto refused = [](const char* text) {
    try {
      Context context(MPI_COMM_WORLD);
    } catch (const Error& error) {
      return std::string(error.what()).find(text) != std::string::npos;
    }
    return false;
  };
  const bool before = refused("call MPI_Init_thread first");
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level);
  const bool single = level > MPI_THREAD_SINGLE || refused("MPI_THREAD_SINGLE");
  MPI_Finalize();
  const bool after = refused("which is finalized");
  std::puts(before && single && after ? "misuse is refused" : "misuse is NOT refused");
  return 0;
}

int run_all(int argc, char** argv) {
  if (std::string_view(argv[argc - 1]) == "--trouble=misuse") return run_without_mpi(argc, argv);
  testing::InitGoogleMock(&argc, argv);
  int wanted = MPI_THREAD_MULTIPLE;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--level=funneled") wanted = MPI_THREAD_FUNNELED;
    if (std::string(argv[i]) == "--level=serialized") wanted = MPI_THREAD_SERIALIZED;
  }
  thread_level = init_mpi(argc, argv, wanted);
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  const std::string_view last_argument = argv[argc - 1];
  if (last_argument == "--domains") pretend_two_domains();
  if (last_argument.starts_with("--trouble=")) {
    try {
      run_into(last_argument.substr(10));
    } catch (const Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    MPI_Finalize();
    return 0;
  }
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (my_rank > 0) delete listeners.Release(listeners.default_result_printer());
  int failed = RUN_ALL_TESTS();
  reduce(MPI_COMM_WORLD, failed, MPI_MAX);
  check_leaks();
  MPI_Finalize();
  return failed;
}

}  // namespace poise::tasks

int main(int argc, char** argv) { return poise::tasks::run_all(argc, argv); }
