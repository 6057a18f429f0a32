// SPDX-License-Identifier: BSD-3-Clause
// Simulates ranks by threads of one process, so that tests run the code that also runs under MPI.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "poise/communication.h"

namespace poise {

/// Calls body() on every simulated rank with a table of communication functions, and returns when
/// all calls have returned. A test may let a collective fail on one rank: that rank communicates
/// like the others, but its function returns an error.
class SimulatedRanks {
 public:
  explicit SimulatedRanks(std::uint32_t num_ranks) : ranks_(num_ranks) {
    for (std::uint32_t r = 0; r < num_ranks; ++r) ranks_[r].all = this, ranks_[r].number = r;
  }

  void fail(std::uint32_t rank, std::uint64_t call) { ranks_[rank].failing_call = call; }
  std::uint64_t calls(std::uint32_t rank) const { return ranks_[rank].calls; }

  void run(const std::function<void(const poise_communication&)>& body) {
    running_ = ranks_.size();
    std::vector<std::thread> threads;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r)
      threads.emplace_back([this, r, &body] {
        body({&ranks_[r], r, static_cast<std::uint32_t>(ranks_.size()), exchange, reduce});
        leave();
      });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  using Bytes = std::vector<char>;
  struct Rank {
    SimulatedRanks* all = nullptr;
    std::uint32_t number = 0;
    std::mutex mutex;
    std::vector<std::pair<std::uint32_t, Bytes>> inbox;
    std::vector<std::uint64_t> values;
    std::uint64_t calls = 0, failing_call = ~std::uint64_t{0};

    int status() { return calls++ == failing_call ? 5 : 0; }
  };

  static int exchange(void* context, std::uint64_t num_sends, const std::uint32_t* to,
                      const void* const* data, const std::uint64_t* bytes, poise_receive receive,
                      void* receiver) {
    Rank& own = *static_cast<Rank*>(context);
    if (own.calls == own.failing_call) num_sends = 0;
    for (std::uint64_t i = 0; i < num_sends; ++i) {
      Rank& other = own.all->ranks_[to[i]];
      const char* begin = static_cast<const char*>(data[i]);
      const std::scoped_lock lock(other.mutex);
      other.inbox.emplace_back(own.number, Bytes(begin, begin + bytes[i]));
    }
    own.all->wait_for_all();
    for (const auto& [from, message] : own.inbox)
      receive(receiver, from, message.data(), message.size());
    own.inbox.clear();
    own.all->wait_for_all();
    return own.status();
  }

  static int reduce(void* context, int reduction, std::uint64_t count, std::uint64_t* values) {
    Rank& own = *static_cast<Rank*>(context);
    own.values.assign(values, values + count);
    own.all->wait_for_all();
    std::fill(values, values + count, 0);
    for (const Rank& rank : own.all->ranks_)
      for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, rank.values.size()); ++i)
        values[i] = reduction == POISE_MAX ? std::max(values[i], rank.values[i])
                                           : values[i] + rank.values[i];
    own.all->wait_for_all();
    return own.status();
  }

  /// A barrier: waits until all ranks have called it. Waiting threads sleep, because there are many
  /// more threads than processors.
  void wait_for_all() {
    std::unique_lock lock(mutex_);
    const std::uint64_t round = round_;
    if (++waiting_ == running_) {
      open();
    } else {
      opened_.wait(lock, [&] { return round_ != round; });
    }
  }

  void leave() {
    const std::scoped_lock lock(mutex_);
    if (waiting_ == --running_ && waiting_ > 0) open();
  }

  void open() {
    waiting_ = 0;
    ++round_;
    opened_.notify_all();
  }

  std::vector<Rank> ranks_;
  std::mutex mutex_;
  std::condition_variable opened_;
  std::size_t running_ = 0, waiting_ = 0;
  std::uint64_t round_ = 0;
};

}  // namespace poise
