// SPDX-License-Identifier: BSD-3-Clause
// Calls libpoise with arbitrary arrays. A call must be refused if and only if an independent check
// finds its arrays invalid, and must then change nothing. With accepted arrays, planning must
// either fail and write no places, or return valid places and a finite iteration time.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/fuzz/numbers.h"
#include "tests/fuzz/target.h"

#include "poise/base/check.h"
#include "poise/poise.h"

namespace {

class Input : public poise::fuzz::Numbers {
 public:
  using Numbers::Numbers;
  bool any() { return (next<std::uint8_t>() & 1) != 0; }
  /// Returns a plausible load in most cases, and arbitrary bits in the others. Plausible loads are
  /// small, so that decisions are short: a decision may take up to 1 % of the time of the next
  /// iterations.
  double seconds() { return below(16) == 0 ? next<double>() : below(50) * 0.25e-3; }
  /// Returns a number below the limit in most cases, and arbitrary bits in the others.
  std::uint32_t index(std::uint32_t limit) {
    return below(32) == 0 ? next<std::uint32_t>() : below(limit + (below(16) == 0));
  }
};

template <typename Next>
auto list_of(std::size_t size, const Next& next) {
  std::vector<decltype(next())> list;
  while (list.size() < size) list.push_back(next());
  return list;
}

bool are_seconds(const std::vector<double>& list) {
  for (const double s : list)
    if (!(s >= 0 && s <= 1e15)) return false;
  return true;
}

bool are_below(const std::vector<std::uint32_t>& list, std::uint32_t limit) {
  for (const std::uint32_t i : list)
    if (i >= limit) return false;
  return true;
}

void expect(int result, bool is_valid) {
  POISE_CHECK(result == (is_valid ? POISE_OK : POISE_BAD_INPUT));
  POISE_CHECK(is_valid || std::strlen(poise_last_error()) > 10);
  POISE_CHECK(is_valid || std::strchr(poise_last_error(), '\n') == nullptr);
}

/// Returns the arrays of a workload as one string of bytes. It has every array that the library's
/// setters can change.
std::string columns_of(const poise_workload* workload) {
  poise_arrays* arrays = nullptr;
  POISE_CHECK(poise_arrays_create(nullptr, workload, nullptr, 0, &arrays) == POISE_OK);
  const poise_problem& p = *poise_arrays_problem(arrays);
  std::string bytes;
  const auto add = [&](const auto* data, std::size_t size) {
    if (data != nullptr) bytes.append(reinterpret_cast<const char*>(data), size * sizeof *data);
  };
  const std::size_t messages = p.indptr[p.num_tasks];
  add(p.load_s, p.num_tasks);
  add(p.indptr, p.num_tasks + 1);
  add(p.indices, messages);
  add(p.counts, messages);
  add(p.bytes, messages);
  add(p.position, 3 * p.num_tasks);
  add(p.shared_block, p.num_tasks);
  add(p.shared_block_bytes, p.num_shared_blocks);
  add(p.subphase_load_s, p.num_tasks * p.num_subphases);
  add(p.background_s, p.num_places);
  poise_arrays_destroy(arrays);
  return bytes;
}

std::pair<int, bool> set_kinds(poise_workload* w, Input& input, std::uint32_t num_tasks) {
  const auto seconds = [&] { return input.seconds(); };
  const std::uint32_t count = input.below(4);
  const auto load_s = list_of(std::size_t{num_tasks} * count, seconds);
  const auto speeds = list_of(std::size_t{3} * count, seconds);
  bool is_valid = count > 1 && are_seconds(load_s);
  for (const double speed : speeds) is_valid &= std::isfinite(speed) && speed > 0;
  return {poise_workload_set_kinds(w, count, load_s.data(), 3, speeds.data()), is_valid};
}

std::pair<int, bool> set_capacity(poise_workload* w, Input& input, std::uint32_t num_tasks) {
  const auto cores = list_of(num_tasks, [&] { return input.below(4); });
  const auto of_places = list_of(3, [&] { return input.below(9); });
  return {poise_workload_set_capacity(w, input.below(5), cores.data(), 3,
                                      input.any() ? of_places.data() : nullptr, 0, nullptr),
          true};
}

/// Calls one setter with arrays from the input. Returns the result of the call, and whether the
/// call should succeed.
std::pair<int, bool> set_something(poise_workload* w, Input& input, std::uint32_t num_tasks) {
  const auto seconds = [&] { return input.seconds(); };
  const auto task = [&] { return input.index(num_tasks); };
  const auto number = [&] { return std::uint64_t{input.next<std::uint16_t>()}; };
  switch (input.below(8)) {
    case 0: {  // CSR: indptr may be unsorted, but never points beyond the arrays
      const std::uint32_t size = input.below(60);
      auto indptr = list_of(num_tasks + 1, [&] { return std::uint64_t{input.below(size + 1)}; });
      if (input.below(4) > 0) std::sort(indptr.begin(), indptr.end());
      if (input.below(4) > 0) indptr[0] = 0;
      const auto indices = list_of(size, task);
      const auto counts = list_of(size, number);
      const bool is_valid =
          indptr[0] == 0 && std::is_sorted(indptr.begin(), indptr.end()) &&
          are_below({indices.begin(), indices.begin() + indptr.back()}, num_tasks);
      return {poise_workload_set_messages_csr(w, indptr.data(), indices.data(), counts.data(),
                                              input.any() ? counts.data() : nullptr),
              is_valid};
    }
    case 1: {
      const std::uint32_t size = input.below(60);
      const auto from = list_of(size, task), to = list_of(size, task);
      return {poise_workload_set_messages(w, size, from.data(), to.data(), nullptr, nullptr),
              are_below(from, num_tasks) && are_below(to, num_tasks)};
    }
    case 2: {
      const auto background_s = list_of(input.below(9), seconds);
      return {poise_workload_set_background(w, background_s.size(), background_s.data()),
              are_seconds(background_s)};
    }
    case 3: {
      const std::uint32_t count = input.below(4);
      const auto load_s = list_of(std::size_t{num_tasks} * count, seconds);
      return {poise_workload_set_subphases(w, count, load_s.data()),
              count > 0 && are_seconds(load_s)};
    }
    case 4: return set_kinds(w, input, num_tasks);
    case 5: return set_capacity(w, input, num_tasks);
    case 6: {
      const auto blocks = list_of(input.below(3), number);
      const auto shared = list_of(num_tasks, [&] {
        return static_cast<std::int32_t>(input.below(5)) - 1 - (input.any() ? 0 : 1);
      });
      bool is_valid = true;
      for (const std::int32_t b : shared) is_valid &= b >= -1 && b < std::ssize(blocks);
      return {poise_workload_set_memory(w, nullptr, nullptr, shared.data(), blocks.size(),
                                        blocks.data()),
              is_valid};
    }
    default: {
      const auto position = list_of(std::size_t{2} * num_tasks, seconds);
      bool is_valid = true;
      for (const double x : position) is_valid &= std::isfinite(x);
      return {poise_workload_set_positions(w, 2, position.data()), is_valid};
    }
  }
}

void plan(const poise_workload* w, Input& input, std::uint32_t num_tasks) {
  static constexpr const char* kMachines[] = {"core:1", "node:2 core:2", "numa:2 core:4"};
  static constexpr const char* kStrategies[] = {"keep",        "greedy", "refine", "nuco", "numa",
                                                "greedy_comm", "orb",    "poise",  "none"};
  poise_machine* machine = nullptr;
  POISE_CHECK(poise_machine_create(kMachines[input.below(3)], &machine) == POISE_OK);
  const std::uint32_t num_places = poise_machine_num_places(machine);
  const auto current = list_of(num_tasks, [&] { return input.index(num_places); });
  std::vector<std::uint32_t> places(num_tasks, 77);
  const char* const strategy = kStrategies[input.below(9)];
  const int result = poise_plan(machine, w, current.data(), strategy, 1, places.data());
  POISE_CHECK(result == POISE_OK || result == POISE_BAD_INPUT);
  if (result != POISE_OK) {
    POISE_CHECK(places == std::vector<std::uint32_t>(num_tasks, 77));
  } else {
    POISE_CHECK(are_below(current, num_places) && are_below(places, num_places));
    poise_metrics metrics;
    POISE_CHECK(poise_evaluate(machine, w, current.data(), places.data(), &metrics) == POISE_OK);
    POISE_CHECK(std::isfinite(metrics.iteration_s));
  }
  poise_machine_destroy(machine);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const std::uint32_t num_tasks = input.below(20);
  const auto load_s = list_of(num_tasks, [&] { return input.seconds(); });
  poise_workload* w = nullptr;
  const int created = poise_workload_create(num_tasks, load_s.data(), &w);
  expect(created, num_tasks > 0 && are_seconds(load_s));
  if (created != POISE_OK) return 0;
  for (std::uint32_t calls = input.below(8); calls > 0; --calls) {
    const std::string before = columns_of(w);
    const auto [result, is_valid] = set_something(w, input, num_tasks);
    expect(result, is_valid);
    POISE_CHECK(is_valid || columns_of(w) == before);
  }
  plan(w, input, num_tasks);
  poise_workload_destroy(w);
  return 0;
}
