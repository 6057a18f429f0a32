// SPDX-License-Identifier: BSD-3-Clause

#include "poise/workload/checks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "poise/base/error.h"

namespace poise {

namespace {

/// Limits far above the needs of real programs. A double can represent sums up to these limits with
/// a precision of one second, one message or one byte.
constexpr double kMaxSeconds = 1e15;
constexpr std::uint64_t kMaxCounted = std::uint64_t{1} << 53;

void check_length(const char* column, std::size_t length, std::size_t wanted) {
  if (length != 0 && length != wanted)
    fail("workload: column \"{}\" has {} entries; it must have {} or be empty", column, length,
         wanted);
}

bool is_load(double load_s) { return std::isfinite(load_s) && load_s >= 0; }

void check_columns(const Workload& workload, std::uint32_t num_places) {
  const std::size_t num_tasks = workload.tasks.size();
  check_length("background load", workload.background_s.size(), num_places);
  check_length("positions", workload.positions.size(), num_tasks);
  check_length("homes", workload.homes.size(), num_tasks);
  check_length("task memory", workload.memory.size(), num_tasks);
  check_length("place memory", workload.place_bytes.size(), num_places);
  check_length("loads of subphases", workload.subphase_load_s.size(), num_tasks);
  for (std::size_t t = 0; t < workload.positions.size(); ++t)
    for (const double coordinate : workload.positions[t])
      if (!std::isfinite(coordinate))
        fail("workload: task {} has coordinate {}; it must be finite", t, coordinate);
  for (const TaskMemory& memory : workload.memory)
    if (memory.shared_block >= std::ssize(workload.shared_block_bytes))
      fail(
          "workload: a task uses shared block {}, but there are only {} shared blocks, numbered "
          "from 0",
          memory.shared_block, workload.shared_block_bytes.size());
}

void check_capacity(const Workload& workload, std::uint32_t num_places) {
  const Capacity& capacity = workload.capacity;
  check_length("cores per task", capacity.cores.size(), workload.tasks.size());
  check_length("cores of places", capacity.of_places.size(), num_places);
  if (!capacity.is_limited()) return;
  std::uint64_t wanted = 0, available = 0;
  for (TaskId t = 0; t < workload.num_tasks(); ++t) wanted += capacity.cores_of(t);
  for (PlaceId p = 0; p < num_places; ++p) available += capacity.of_place(p);
  if (!capacity.of_domains.empty())
    available = std::min(available, std::accumulate(capacity.of_domains.begin(),
                                                    capacity.of_domains.end(), std::uint64_t{0}));
  if (wanted > available && capacity.cores.empty())
    fail(
        "workload: there are {} tasks, but all places together may hold only {}; allow more per "
        "place",
        wanted, available);
  if (wanted > available)
    fail("workload: the tasks take {} cores in total, but all places together have only {}", wanted,
         available);
}

void check_subphases(const Workload& workload, std::uint32_t num_places) {
  const std::vector<double>& speed = workload.subphase_speed;
  if (speed.empty()) return;
  std::size_t count = 0;
  for (const auto& row : workload.subphase_load_s) count = std::max(count, row.size());
  if (speed.size() != num_places * count)
    fail(
        "workload: there are {} speeds, but there must be {}: one for each of the {} places and "
        "each of the {} subphases or kinds of work",
        speed.size(), num_places * count, num_places, count);
  for (std::size_t i = 0; i < speed.size(); ++i)
    if (!std::isfinite(speed[i]) || speed[i] <= 0)
      fail("workload: place {} has speed {} in subphase {}; it must be finite and above 0",
           i / count, speed[i], i % count);
}

[[noreturn]] void fail_total(const char* what, double most) {
  fail("workload: the total number of {} exceeds the limit of {:.3g}", what, most);
}

/// Adds up values; throws if the sum exceeds a limit.
class Total {
 public:
  Total(const char* what, double most) : what_(what), most_(most) {}
  void add(double value) {
    sum_ += value;
    if (!(sum_ <= most_)) fail_total(what_, most_);
  }
  void add(std::uint64_t value) { add(static_cast<double>(value)); }

 private:
  const char* what_;
  double most_, sum_ = 0;
};

void check_loads(const Workload& workload) {
  Total seconds("seconds of work", kMaxSeconds), migrated("bytes of tasks", kMaxCounted);
  for (std::size_t t = 0; t < workload.tasks.size(); ++t) {
    const Task& task = workload.tasks[t];
    if (!is_load(task.load_s))
      fail("workload: task {} has load {} s; it must be finite and at least 0", t, task.load_s);
    seconds.add(task.load_s);
    migrated.add(task.bytes);
  }
  for (std::size_t p = 0; p < workload.background_s.size(); ++p) {
    if (!is_load(workload.background_s[p]))
      fail("workload: place {} has background load {} s; it must be finite and at least 0", p,
           workload.background_s[p]);
    seconds.add(workload.background_s[p]);
  }
  Total parts("seconds of work in subphases", kMaxSeconds);
  for (const std::vector<double>& loads_s : workload.subphase_load_s)
    for (const double load_s : loads_s) {
      if (!is_load(load_s))
        fail("workload: a task has load {} s in a subphase; it must be finite and at least 0",
             load_s);
      parts.add(load_s);
    }
}

void check_memory(const Workload& workload) {
  Total memory("bytes of memory", kMaxCounted);
  for (const TaskMemory& needed : workload.memory) {
    memory.add(needed.footprint_bytes);
    memory.add(needed.working_bytes);
  }
  for (const std::uint64_t bytes : workload.shared_block_bytes) memory.add(bytes);
  for (const std::uint64_t bytes : workload.place_bytes) memory.add(bytes);
}

}  // namespace

void check_messages(const Workload& workload) {
  const std::size_t num_tasks = workload.tasks.size();
  Total counted("messages", kMaxCounted), sent("bytes of messages", kMaxCounted);
  for (std::size_t m = 0; m < workload.messages.size(); ++m) {
    const Message& message = workload.messages[m];
    if (message.from >= num_tasks || message.to >= num_tasks)
      fail("workload: message {} goes from task {} to task {}, but there are {} tasks", m,
           message.from, message.to, num_tasks);
    counted.add(message.count);
    sent.add(message.bytes);
  }
}

std::uint64_t checked_sum(std::uint64_t total, std::span<const std::uint64_t> numbers,
                          const char* what) {
  constexpr std::size_t kBlock = 512;  // the sum of 512 numbers of at most 2^53 cannot overflow
  for (; !numbers.empty(); numbers = numbers.subspan(std::min(kBlock, numbers.size()))) {
    std::uint64_t any = 0;  // bitwise OR; lies between the largest number and the sum
    for (const std::uint64_t number : numbers.first(std::min(kBlock, numbers.size())))
      total += number, any |= number;
    if (any > kMaxCounted || total > kMaxCounted) fail_total(what, kMaxCounted);
  }
  return total;
}

void check_all_but_messages(const Workload& workload, std::uint32_t num_places) {
  if (workload.tasks.empty()) fail("workload: there are no tasks; at least 1 is needed");
  check_loads(workload);
  check_columns(workload, num_places);
  check_capacity(workload, num_places);
  check_subphases(workload, num_places);
  if (!(workload.overlap >= 0 && workload.overlap <= 1))
    fail(
        "workload: overlap, the share of communication hidden behind computation, is {}; it must "
        "be from 0 to 1",
        workload.overlap);
  check_memory(workload);
}

}  // namespace poise
