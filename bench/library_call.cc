// SPDX-License-Identifier: BSD-3-Clause
// Usage: library_call cpp|c SIDE STRATEGY. Measures one decision about the tasks of a periodic grid
// of SIDE³ cells, each of which sends to its six neighbours. The measurement begins with the
// program's arrays and ends with the place of each task. The decision calls the C++ library or
// libpoise. library_call.py does the same from Python. Prints as JSON the CPU seconds, the memory
// needed beyond the arrays, and a checksum of the places.
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "poise/base/clock.h"
#include "poise/machine/text.h"
#include "poise/poise.h"
#include "poise/strategies/strategy.h"

namespace {

constexpr const char* kMachine = "node:32 numa:2 core:16";
constexpr std::uint32_t kPlaces = 1024;
constexpr std::uint64_t kMessageBytes = 1000, kTaskBytes = 10'000;

/// The data of a program: loads, sizes, a graph in CSR form, and the current place of each task.
struct Arrays {
  std::vector<double> load_s;
  std::vector<std::uint64_t> sizes, indptr{0}, bytes;
  std::vector<std::uint32_t> indices, now;
};

/// The load of a task is between 1 and 2 ms. It is computed from the task's number by a hash
/// function that is easy to write with numpy.
Arrays arrays_of(std::uint32_t side) {
  const std::uint32_t n = side * side * side;
  Arrays arrays;
  for (std::uint32_t t = 0; t < n; ++t) {
    const std::uint32_t x = t % side, y = t / side % side, z = t / side / side;
    const auto task = [side](std::uint32_t i, std::uint32_t j, std::uint32_t k) {
      return (k % side * side + j % side) * side + i % side;
    };
    arrays.load_s.push_back(1e-3 * (1 + t * 2654435761u / 4294967296.0));
    arrays.sizes.push_back(kTaskBytes);
    for (const std::uint32_t other :
         {task(x + 1, y, z), task(x + side - 1, y, z), task(x, y + 1, z), task(x, y + side - 1, z),
          task(x, y, z + 1), task(x, y, z + side - 1)})
      arrays.indices.push_back(other), arrays.bytes.push_back(kMessageBytes);
    arrays.indptr.push_back(arrays.indices.size());
    arrays.now.push_back(std::uint64_t{t} * kPlaces / n);
  }
  return arrays;
}

std::vector<std::uint32_t> by_cpp(const Arrays& arrays, const char* strategy) {
  const poise::Machine machine =
      poise::with_formula(poise::machine_from_text(kMachine), poise::CostFormula::physical);
  poise::Workload workload;
  workload.tasks.reserve(arrays.load_s.size());
  workload.messages.reserve(arrays.indices.size());
  for (poise::TaskId t = 0; t < arrays.load_s.size(); ++t) {
    workload.tasks.push_back({arrays.load_s[t], arrays.sizes[t]});
    for (std::uint64_t i = arrays.indptr[t]; i < arrays.indptr[t + 1]; ++i)
      workload.messages.push_back({t, arrays.indices[i], 1, arrays.bytes[i]});
  }
  const poise::Placement current(arrays.now);
  const poise::Placement after =
      poise::parse_strategy(strategy).rebalance({machine, workload, current, machine.costs()});
  return {after.places().begin(), after.places().end()};
}

std::vector<std::uint32_t> by_c(const Arrays& arrays, const char* strategy) {
  std::vector<std::uint32_t> after(arrays.now.size());
  poise_machine* machine = nullptr;
  poise_workload* workload = nullptr;
  if (poise_machine_create(kMachine, &machine) != POISE_OK ||
      poise_workload_create(after.size(), arrays.load_s.data(), &workload) != POISE_OK ||
      poise_workload_set_sizes(workload, arrays.sizes.data()) != POISE_OK ||
      poise_workload_set_messages_csr(workload, arrays.indptr.data(), arrays.indices.data(),
                                      nullptr, arrays.bytes.data()) != POISE_OK ||
      poise_plan(machine, workload, arrays.now.data(), strategy, 0, after.data()) != POISE_OK) {
    fmt::print(stderr, "{}\n", poise_last_error());
    std::exit(2);
  }
  poise_workload_destroy(workload);
  poise_machine_destroy(machine);
  return after;
}

double megabytes(std::string_view line) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == line && status >> word) return std::atof(word.c_str()) / 1024;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return fmt::print(stderr, "usage: library_call cpp|c SIDE STRATEGY\n"), 2;
  const bool in_c = std::string_view(argv[1]) == "c";
  const Arrays arrays = arrays_of(std::atoi(argv[2]));
  std::ofstream("/proc/self/clear_refs") << 5 << std::flush;  // resets the peak memory, VmHWM
  const double before_mb = megabytes("VmRSS:"), start_s = poise::process_cpu_now_s();
  const auto after = in_c ? by_c(arrays, argv[3]) : by_cpp(arrays, argv[3]);
  const double cpu_s = poise::process_cpu_now_s() - start_s;
  std::uint64_t checksum = 0;
  for (std::size_t t = 0; t < after.size(); ++t) checksum += (t + 1) * after[t];
  fmt::print("{{\"cpu_s\": {:.4f}, \"megabytes\": {:.1f}, \"checksum\": {}}}\n", cpu_s,
             megabytes("VmHWM:") - before_mb, checksum);
}
