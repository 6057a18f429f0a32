// What a rank learns while it works: how long functions take, how fast the way to others is.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "runtimes/tasks/neighbours.h"

namespace poise::tasks {

/// A moving average. A sample pulls it up to four times its size at most: a task during which the
/// system ran something else says little about the next one. So does one of `several` tasks to the
/// sample's average.
inline double moved_average(double average, double sample, double weight, double several = 1) {
  if (average <= 0) return sample;
  return average + weight * (std::min(sample, (1 + 3 / several) * average) - average);
}

/// Seconds per unit of cost, for each function: a moving average over some 20 ms of work, or over
/// eight tasks if that is more. Over a few short tasks it would be what disturbed one of them, and
/// equal ranks would lend to each other. Threads may learn at once; of two values learnt at the
/// same time one may be lost.
class TaskTimes {
 public:
  explicit TaskTimes(std::size_t num_functions)
      : known_(std::make_unique<Known[]>(num_functions)) {}

  /// From tasks in a row, with what they cost and took together.
  void learn(std::uint32_t function, double seconds, double cost, std::size_t in_row = 1) {
    if (cost <= 0) return;
    Known& known = known_[function];
    const double average = per_unit(function), several = static_cast<double>(in_row);
    const double tasks = known.tasks.load(std::memory_order_relaxed) + several;
    // As long as it was expected to be: disturbed ones would weigh the more the worse.
    const double weight = std::min(kLargestWeight, average * cost / kMemory_s);
    known.tasks.store(tasks, std::memory_order_relaxed);
    known.seconds.store(
        moved_average(average, seconds / cost, std::max(weight, several / tasks), several),
        std::memory_order_relaxed);
  }

  /// Seconds per unit of cost; 0 when the function never ran.
  double per_unit(std::uint32_t function) const {
    return known_[function].seconds.load(std::memory_order_relaxed);
  }

 private:
  static constexpr double kLargestWeight = 0.125, kMemory_s = 20e-3;
  struct Known {
    std::atomic<double> seconds{0}, tasks{0};
  };
  std::unique_ptr<Known[]> known_;
};

/// A value that disturbances only ever make larger: it follows smaller values quickly, larger ones
/// slowly, and none as more than four times itself.
class Floor {
 public:
  explicit Floor(double initial) : value_(initial) {}
  void learn(double value) {
    const double taken = std::min(value, 4 * value_);
    value_ += (taken - value_) / (taken < value_ ? 4 : 32);
  }
  double value() const { return value_; }

 private:
  double value_;
};

/// A rank's own work with tasks that come or go: some for each, and some for each byte, there and
/// back. Memory that is touched for the first time, and disturbances, only ever make it longer: it
/// follows smaller values more quickly.
class Handling {
 public:
  void learn(std::size_t tasks, double bytes, double seconds) {
    const double each = static_cast<double>(tasks);
    // Of a loan of few the message takes the larger part, which says little of a loan of many.
    if (bytes < kMany * each)
      task_s_ = follow(task_s_, seconds / each, std::min(1.0, each / kSome));
    else
      byte_s_ = follow(byte_s_, std::max(0.0, seconds - task_s_ * each) / bytes, 1);
  }
  double seconds(double bytes) const { return task_s_ + byte_s_ * bytes; }

 private:
  static double follow(double average, double sample, double trust) {
    return moved_average(average, sample, trust * (sample < average ? 0.25 : 0.125));
  }
  static constexpr double kMany = 4096;  // bytes whose time is not lost in that of a task
  static constexpr double kSome = 8;     // tasks
  // Quicker than most: what is not tried is not learnt.
  double task_s_ = 0.1e-6, byte_s_ = 0.1e-9;
};

/// The way to ranks that are equally far.
struct Way {
  Floor latency_s{10e-6};
  Floor seconds_per_byte{1e-10};

  /// A question came back answered. Answers to what was asked before this wait have slept through
  /// what the program did in between, and teach nothing.
  void answered(double asked_at_s, double wait_since_s, double now_s) {
    if (asked_at_s >= wait_since_s) latency_s.learn(std::max(0.0, now_s - asked_at_s) / 2);
  }
  Way times(double factor) const {
    return {Floor(factor * latency_s.value()), Floor(factor * seconds_per_byte.value())};
  }
};

/// The ways to all groups of ranks. One of which nothing was learnt is longer than that inside the
/// own domain by the Machine's factor, or like those to other nodes; none is believed to be shorter
/// than that inside.
class Ways {
 public:
  double latency_s(const Neighbour& to) const {
    return std::max(near_.latency_s.value(), way(to).latency_s.value());
  }
  double seconds_per_byte(const Neighbour& to) const {
    return std::max(near_.seconds_per_byte.value(), way(to).seconds_per_byte.value());
  }
  /// Calls `learn` with each way that what happened on the way to this rank says something about.
  template <typename Learn>
  void learn(const Neighbour& to, const Learn& learn) {
    if (to.distance <= 1) return learn(near_);
    learn(known_.try_emplace(to.group, guess(to)).first->second);
    if (std::isinf(to.distance)) learn(others_);
  }

 private:
  Way guess(const Neighbour& to) const {
    return std::isinf(to.distance) ? others_ : near_.times(to.distance);
  }
  Way way(const Neighbour& to) const {
    if (to.distance <= 1) return near_;
    const auto way = known_.find(to.group);
    return way == known_.end() ? guess(to) : way->second;
  }
  Way near_, others_;  // inside this domain; to any other node
  std::unordered_map<std::uint32_t, Way> known_;
};

}  // namespace poise::tasks
