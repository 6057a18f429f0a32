// SPDX-License-Identifier: BSD-3-Clause
// Stress test: tasks of random sizes, which may submit further tasks. All results are known in
// advance. POISE_STRESS_TASKS sets the number of tasks, for example to a million.
#include "poise/base/random.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <mpi.h>
#include <string>
#include <vector>

#include "runtimes/tasks/context.h"
#include "tests/tasks/ranks.h"

namespace poise::tasks {
namespace {

using Numbers = std::vector<std::uint64_t>;

std::atomic<std::uint64_t> runs{0};

std::uint64_t digest(std::span<const std::uint64_t> data) {
  std::uint64_t sum = 0;
  for (const std::uint64_t value : data) sum = mix(sum ^ value);
  return sum;
}
const auto kCountOne = function("count one", [](int) { ++runs; });
const auto kDigest =
    function("digest", [](std::span<const std::uint64_t> data, std::span<std::uint64_t> copy) {
      std::copy(data.begin(), data.end(), copy.begin());
      if (data.size() % 4 == 0) Context::current().submit(kCountOne, 0);
      ++runs;
      return digest(data);
    });

std::uint64_t knob(const char* name, std::uint64_t usual) {
  const char* const text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : usual;
}

struct Batch {
  std::vector<Numbers> data, copies;
  std::vector<Future<std::uint64_t>> digests;
  std::uint64_t runs = 0;  // how often tasks of the batch and their children have run

  std::size_t num_wrong() const {
    std::size_t wrong = 0;
    for (std::size_t t = 0; t < data.size(); ++t)
      wrong += digests[t].get() != digest(data[t]) || copies[t] != data[t];
    return wrong;
  }
};

// Submits random tasks. About half of the tasks in the first three quarters of the batch decrement
// still_to_leave when they are lent. No other task decrements it.
Batch submit_batch(Context& context, std::size_t num_tasks, Random& random) {
  Batch batch{std::vector<Numbers>(num_tasks), std::vector<Numbers>(num_tasks), {}};
  for (std::size_t t = 0; t < num_tasks; ++t) {
    Numbers& data = batch.data[t];
    Numbers& copy = batch.copies[t];
    data.resize(random.below(random.below(50) ? 20 : 3000));
    for (auto& value : data) value = random.bits();
    copy.resize(data.size());
    batch.runs += 1 + (data.size() % 4 == 0);
    const bool says = 4 * t < 3 * num_tasks && random.below(2);
    batch.digests.push_back(
        says ? context.submit(says_when_it_leaves(), kDigest, in(data), out(copy))
             : context.submit(kDigest, in(data), out(copy)));
  }
  return batch;
}

// These tasks are so short that lending them saves no time. The policy `cost` estimates times and
// lends hardly any of them; the policy `lightest` compares numbers of tasks and lends many.
class Stress : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(
    Context, Stress,
    testing::Values("policy=cost", "policy=cost,delay_us=2000", "policy=lightest,max_tasks=1000000",
                    "policy=lightest,max_tasks=1000000,shared_bytes=0,delay_us=2000"));

TEST_P(Stress, random_tasks_give_the_right_results_even_if_messages_are_delayed) {
  constexpr unsigned kThreads = 2;
  constexpr std::size_t kFew = 100, kMany = 4000;
  const std::uint64_t num_tasks = knob("POISE_STRESS_TASKS", 8000);
  const std::uint64_t seed = knob("POISE_STRESS_SEED", 1);
  SCOPED_TRACE("seed " + std::to_string(seed));
  const bool by_number = GetParam().starts_with("policy=lightest");
  Context context(MPI_COMM_WORLD,
                  {kThreads, "large_bytes=1000,poll_us=1," + more_threads() + "," + GetParam()});
  Random of_all(mix(seed)), random(mix(seed + 1 + context.rank()));
  runs = 0;
  meet();
  std::uint64_t expected_runs = 0, wrong = 0;
  for (std::uint64_t left = num_tasks / context.num_ranks(), most = left; most > 0;) {
    // In this test some ranks have tasks and others have none.
    const std::uint64_t all = (std::uint64_t{1} << context.num_ranks()) - 1;
    const std::uint64_t busy = 1 + of_all.below(all - 1);
    const bool has_tasks = busy >> context.rank() & 1;
    const std::size_t size =
        has_tasks ? std::min<std::size_t>(left, random.below(2) ? kMany : kFew) : 0;
    left -= size;
    // Keeps this rank's threads busy until the number of lent tasks is an eighth of the batch's
    // size. Only tasks that decrement still_to_leave are counted. They make up more than a third of
    // the batch (see submit_batch).
    if (by_number && size >= kFew)
      keep_threads_until_left(context, static_cast<std::int64_t>(size / 8), kThreads);
    const Batch batch = submit_batch(context, size, random);
    context.wait();
    wrong += batch.num_wrong();
    expected_runs += batch.runs;
    most = left;
    reduce(MPI_COMM_WORLD, &most, 1, MPI_MAX);
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(sum_over_ranks(runs), sum_over_ranks(expected_runs));
  const std::uint64_t lent = sum_over_ranks(context.counters().returned);
  if (context.rank() == 0)
    std::printf("seed %lu: %lu of %lu tasks ran on other ranks\n", seed, lent, num_tasks);
  if (by_number && context.num_ranks() > 1) {
    EXPECT_GT(lent, num_tasks / 10);
  }
}

}  // namespace
}  // namespace poise::tasks
