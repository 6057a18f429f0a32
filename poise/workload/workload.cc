#include "poise/workload/workload.h"

#include <cmath>

#include "poise/base/error.h"

namespace poise {

namespace {

void check_length(const char* column, std::size_t length, std::size_t wanted) {
  if (length != 0 && length != wanted)
    fail("workload: {} has {} entries for {}", column, length, wanted);
}

}  // namespace

void check(const Workload& workload, std::uint32_t num_places) {
  const std::size_t num_tasks = workload.tasks.size();
  if (num_tasks == 0) fail("workload: it has no tasks");
  for (std::size_t t = 0; t < num_tasks; ++t) {
    const double load_s = workload.tasks[t].load_s;
    if (!std::isfinite(load_s) || load_s < 0)
      fail("workload: task {} has load {} s; a load is finite and at least 0", t, load_s);
  }
  for (std::size_t m = 0; m < workload.messages.size(); ++m) {
    const Message& message = workload.messages[m];
    if (message.from >= num_tasks || message.to >= num_tasks)
      fail("workload: message {} goes from task {} to task {}, but there are {} tasks", m,
           message.from, message.to, num_tasks);
  }
  for (std::size_t p = 0; p < workload.background_s.size(); ++p)
    if (!std::isfinite(workload.background_s[p]) || workload.background_s[p] < 0)
      fail("workload: place {} has background load {} s; it is finite and at least 0", p,
           workload.background_s[p]);
  check_length("background load", workload.background_s.size(), num_places);
  check_length("positions", workload.positions.size(), num_tasks);
  check_length("homes", workload.homes.size(), num_tasks);
  check_length("task memory", workload.memory.size(), num_tasks);
  check_length("place memory", workload.place_bytes.size(), num_places);
  check_length("loads of subphases", workload.subphase_load_s.size(), num_tasks);
  for (const std::vector<double>& loads_s : workload.subphase_load_s)
    for (const double load_s : loads_s)
      if (!std::isfinite(load_s) || load_s < 0)
        fail("workload: a task has load {} s in a subphase; a load is finite and at least 0",
             load_s);
  for (const TaskMemory& memory : workload.memory)
    if (memory.shared_block >= static_cast<std::int64_t>(workload.shared_block_bytes.size()))
      fail("workload: a task uses shared block {} of {}", memory.shared_block,
           workload.shared_block_bytes.size());
}

double total_load_s(const Workload& workload) {
  double total = 0;
  for (const Task& task : workload.tasks) total += task.load_s;
  return total;
}

}  // namespace poise
