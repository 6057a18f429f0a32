// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/wait.h"

#include <algorithm>

#include "poise/base/enum_index.h"

namespace poise::profile {

void add(const Wait& wait, Waiting& waiting) {
  const double waited_s = 1e-9 * wait.waited_ns;
  const double took_s = 1e-9 * wait.took_ns;
  ++waiting.samples;
  waiting.sampled_ns += wait.took_ns;
  waiting.waited_ns += wait.waited_ns;
  waiting.wait_squares += waited_s * waited_s;
  waiting.time_squares += took_s * took_s;
  waiting.products += waited_s * took_s;
  if (wait.for_whom < 0) return;
  if (wait.is_for_receiver) waiting.for_receiver_ns += wait.waited_ns;
  const std::uint32_t who = wait.for_whom;
  auto found = std::find_if(waiting.for_whom.begin(), waiting.for_whom.end(),
                            [&](const auto& entry) { return entry.first == who; });
  if (found == waiting.for_whom.end()) found = waiting.for_whom.insert(found, {who, 0});
  found->second += wait.waited_ns;
}

void keep_longest(std::vector<Wait>& waits) {
  std::sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) {
    return std::pair(a.entered_ns, -a.waited_ns) < std::pair(b.entered_ns, -b.waited_ns);
  });
  const auto end = std::unique(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) {
    return a.entered_ns == b.entered_ns;
  });
  waits.erase(end, waits.end());
}

void add_waits(const std::vector<Wait>& waits, std::vector<Phase>& phases) {
  for (const Wait& wait : waits) {
    const auto next =
        std::upper_bound(phases.begin(), phases.end(), wait.entered_ns,
                         [](std::int64_t ns, const Phase& phase) { return ns < phase.begin_ns; });
    if (next == phases.begin()) continue;
    add(wait, std::prev(next)->waiting[index_of(wait.what)]);
  }
}

}  // namespace poise::profile
