// SPDX-License-Identifier: BSD-3-Clause

#include "poise/workload/workload.h"

#include "poise/workload/checks.h"

namespace poise {

void check(const Workload& workload, std::uint32_t num_places) {
  check_all_but_messages(workload, num_places);
  check_messages(workload);
}

double total_load_s(const Workload& workload) {
  double total = 0;
  for (const Task& task : workload.tasks) total += task.load_s;
  return total;
}

}  // namespace poise
