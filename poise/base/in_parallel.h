// SPDX-License-Identifier: BSD-3-Clause
// Runs independent pieces of work on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace poise {

/// Calls work(i) once for each i < count, on this thread and up to threads - 1 more; returns when
/// all calls have returned. Calls must not depend on each other, so that the result is the same for
/// any number of threads. If the system does not allow that many threads, fewer are used. With one
/// thread, calls are made in increasing order of i. Rethrows the first exception that a call
/// throws; in that case, not all calls are made.
template <typename Work>
void in_parallel(std::size_t count, unsigned threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> has_failed{false};
  std::exception_ptr failure;
  const auto run = [&] {
    try {
      for (std::size_t i = next++; i < count && !has_failed; i = next++) work(i);
    } catch (...) {
      if (!has_failed.exchange(true)) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i)
        others.emplace_back(run);
    } catch (...) {  // if too few threads can start, those that have started do all the work
    }
    run();
  }
  if (failure) std::rethrow_exception(failure);
}

/// Calls left(n) and right(m) at the same time, with n + m == threads. left() may use n threads,
/// right() m threads. With only one thread, calls first left(1) and then right(1).
template <typename Left, typename Right>
void run_both(unsigned threads, const Left& left, const Right& right) {
  in_parallel(2, threads, [&](std::size_t i) {
    if (i == 0)
      left(std::max(1u, threads / 2));
    else
      right(std::max(1u, threads - threads / 2));
  });
}

}  // namespace poise
