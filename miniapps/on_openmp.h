// SPDX-License-Identifier: BSD-3-Clause
// Runs a program's objects in one process, each object's step as an OpenMP task. Benchmarks compare
// the time of such a run with the time of runs on several ranks.
#pragma once

#include <algorithm>
#include <chrono>
#include <exception>
#include <fmt/format.h>
#include <numeric>
#include <utility>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "miniapps/one_buffer.h"

namespace poise::miniapps {

/// The options --openmp and --each-step.
struct ByOpenMP {
  bool wanted = false, each_step = false;

  void add_options(Arguments& arguments) {
    arguments.add_flag("--openmp", wanted,
                       "run in one process, each object's step as an OpenMP task, for comparison");
    arguments.add_flag("--each-step", each_step,
                       "with --openmp: print the busy time of each thread in each step",
                       "--openmp");
  }
};

/// Times of one step, in seconds.
struct Step {
  double wall_s = 0;
  std::vector<double> busy_s;  // time spent in objects, by thread
};

template <typename Object>
class OpenMPTasks {
 public:
  explicit OpenMPTasks(std::vector<Object> objects) {
    const ObjectId num_objects = objects.size();
    for (Object& object : objects)
      slots_.push_back({std::move(object), OneBuffer(num_objects), OneBuffer(num_objects), {}});
  }

  /// Runs steps. If an object throws, completes that step and rethrows the exception.
  void run(std::uint64_t num_steps) {
#pragma omp parallel
#pragma omp single
    for (std::uint64_t s = 0; s < num_steps && !failure_; ++s) step();
    if (failure_) std::rethrow_exception(failure_);
  }

  const std::vector<Step>& steps() const { return steps_; }

  template <typename Value>
  auto sum(Value value) const {
    std::decay_t<decltype(value(std::declval<const Object&>()))> total{};
    for (const Slot& slot : slots_) total += value(slot.object);
    return total;
  }

 private:
  struct Slot {
    Object object;
    OneBuffer sent, sent_before;
    std::vector<Mail> inbox;
  };

  static double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  static std::size_t thread() {
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
  }
  static std::size_t num_threads() {
#ifdef _OPENMP
    return omp_get_num_threads();
#else
    return 1;
#endif
  }

  void step() {
    const double begin_s = now_s();
    std::vector<double> busy_s(num_threads());
    deliver();
    for (Slot& slot : slots_) {
#pragma omp task shared(slot, busy_s)
      busy_s[thread()] += step(slot);
    }
#pragma omp taskwait
    steps_.push_back({now_s() - begin_s, std::move(busy_s)});
  }

  /// Fills the inboxes with the messages of the previous step, sorted by sender. Messages of the
  /// same sender stay in the order in which it sent them.
  void deliver() {
    for (Slot& slot : slots_) {
      std::swap(slot.sent, slot.sent_before);
      slot.sent.clear();
      slot.inbox.clear();
    }
    for (const Slot& slot : slots_)
      for (auto bytes = slot.sent_before.buffer().bytes(); !bytes.empty();) {
        const objects::PackedMessage letter = objects::take_message(bytes);
        for (const ObjectId to : letter.to)
          slots_[to].inbox.emplace_back(letter.from, letter.payload);
      }
  }

  /// Runs one object's step and returns the seconds that it took. Catches all exceptions, because
  /// none may leave an OpenMP task.
  double step(Slot& slot) {
    const double begin_s = now_s();
    try {
      Outbox outbox(slot.sent, &slot - slots_.data());
      slot.object.step(Inbox(slot.inbox), outbox);
    } catch (...) {
#pragma omp critical
      failure_ = std::current_exception();
    }
    return now_s() - begin_s;
  }

  std::vector<Slot> slots_;
  std::vector<Step> steps_;
  std::exception_ptr failure_;
};

/// Prints the results in the format of on_mpi.h. With `each_step` also prints the busy time of each
/// thread in each step.
inline void print_results(const std::vector<Step>& steps, std::uint64_t iterations,
                          ObjectId num_objects, bool each_step) {
  double wall_s = 0, load_s = 0, busiest_s = 0;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const std::vector<double>& busy_s = steps[s].busy_s;
    wall_s += steps[s].wall_s;
    load_s += std::accumulate(busy_s.begin(), busy_s.end(), 0.0);
    busiest_s += *std::max_element(busy_s.begin(), busy_s.end());
    if (each_step) fmt::print("step {}: threads busy for {:.6f} s\n", s, fmt::join(busy_s, " "));
  }
  const std::size_t num_threads = steps.front().busy_s.size();
  fmt::print(
      "{} iterations of {} objects as tasks of OpenMP on {} threads: {:.4f} s, {:.2f} "
      "iterations/s\n",
      iterations, num_objects, num_threads, wall_s, iterations / wall_s);
  fmt::print("imbalance {:.3f}\n", busiest_s * num_threads / load_s);
}

/// Runs the program and returns whether its results are right.
template <Program P>
bool run_by_openmp(const P& program, const ByOpenMP& options) {
  const auto sum_of = [&](const auto& object) { return program.sum_of(object); };
  std::vector<decltype(program.object(0))> objects;
  for (ObjectId id = 0; id < program.num_objects(); ++id) objects.push_back(program.object(id));
  OpenMPTasks tasks(std::move(objects));
  const auto first = tasks.sum(sum_of);
  tasks.run(program.steps());
  print_results(tasks.steps(), program.iterations, program.num_objects(), options.each_step);
  return are_right(program, first, tasks.sum(sum_of));
}

}  // namespace poise::miniapps
