// SPDX-License-Identifier: BSD-3-Clause

#include "poise/base/in_parallel.h"

#include <gtest/gtest.h>
#include <stdexcept>

namespace poise {
namespace {

TEST(InParallel, calls_the_function_once_for_every_index_whatever_the_number_of_threads) {
  for (const unsigned threads : {1u, 2u, 7u, 200u}) {
    std::vector<std::atomic<int>> calls(100);
    in_parallel(calls.size(), threads, [&](std::size_t i) { ++calls[i]; });
    for (std::size_t i = 0; i < calls.size(); ++i) EXPECT_EQ(calls[i], 1) << i;
  }
}

TEST(InParallel, a_single_thread_calls_the_function_for_the_indices_in_increasing_order) {
  std::vector<std::size_t> order;
  in_parallel(4, 1, [&](std::size_t i) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(InParallel, an_exception_on_another_thread_reaches_the_caller) {
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> throws{false};
  const auto work = [&](std::size_t) {
    if (std::this_thread::get_id() != caller) {
      throws = true;
      throw std::runtime_error("no memory");
    }
    while (!throws) std::this_thread::yield();  // until the other thread has taken the other index
  };
  EXPECT_THROW(in_parallel(2, 2, work), std::runtime_error);
}

TEST(InParallel, two_functions_that_run_in_parallel_each_get_about_half_of_the_threads) {
  for (const unsigned threads : {1u, 2u, 5u}) {
    unsigned left = 0, right = 0;
    run_both(
        threads, [&](unsigned some) { left = some; }, [&](unsigned some) { right = some; });
    EXPECT_EQ(left, std::max(1u, threads / 2));
    EXPECT_EQ(right, threads - threads / 2);
  }
}

}  // namespace
}  // namespace poise
