// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/leaving.h"

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <queue>
#include <tuple>

#include "runtimes/charm/convert.h"

#include "poise/workload/message_counts.h"

namespace poise::charm {

namespace {

struct Candidate {
  double price = 0;  // additional messages between the PEs per second of load that leaves
  double load_s = 0;
  TaskId task = 0;

  /// Order of the priority queue: the candidate with the lowest price comes first; if prices are
  /// equal, the candidate with the most load.
  bool operator<(const Candidate& other) const {
    return std::tie(other.price, load_s, other.task) < std::tie(price, other.load_s, task);
  }
};

class Leaving {
 public:
  Leaving(const balance::MeasuredPhase& phase, double load_s)
      : workload_(phase.workload),
        partners_(counts_exchanged(workload_)),
        stays_(workload_.num_tasks()),
        cost_(workload_.num_tasks()),
        room_s_(load_s) {
    for (TaskId t = 0; t < workload_.num_tasks(); ++t) stays_[t] = phase.current.of(t) == 0;
    for (TaskId t = 0; t < workload_.num_tasks(); ++t) {
      for (const auto& entry : partners_.of(t))
        cost_[t] += (stays_[entry.task] ? 1 : -1) * count_of(entry);
      if (!may_leave(t)) continue;
      least_s_ = std::min(least_s_, workload_.tasks[t].load_s);
      queue_.push(candidate(t));
    }
  }

  std::vector<TaskId> take() {
    std::vector<TaskId> taken;
    while (!queue_.empty() && room_s_ >= least_s_) {
      const Candidate next = queue_.top();
      queue_.pop();
      if (!may_leave(next.task) || next.price != candidate(next.task).price) continue;
      room_s_ -= next.load_s;
      taken.push_back(next.task);
      stays_[next.task] = false;
      for (const auto& entry : partners_.of(next.task)) {
        cost_[entry.task] -= 2 * count_of(entry);
        if (may_leave(entry.task)) queue_.push(candidate(entry.task));
      }
    }
    return taken;
  }

 private:
  double count_of(const MessageCounts::Entry& entry) const { return partners_.count_of(entry); }
  bool may_leave(TaskId t) const {
    const Task& task = workload_.tasks[t];
    return stays_[t] && task.movable && task.load_s > 0 && task.load_s <= room_s_;
  }
  Candidate candidate(TaskId t) const {
    const double load_s = workload_.tasks[t].load_s;
    return {cost_[t] / load_s, load_s, t};
  }

  const Workload& workload_;
  MessageCounts partners_;
  std::vector<char> stays_;   // for each task, whether it stays on PE 0
  std::vector<double> cost_;  // additional messages between the PEs if the task leaves
  double room_s_, least_s_ = std::numeric_limits<double>::infinity();
  std::priority_queue<Candidate> queue_;
};

}  // namespace

std::vector<std::uint32_t> leaving(const Statistics& statistics, double load_s) noexcept {
  try {
    constexpr std::array speeds = {1.0, 1.0};
    const Converted rows = converted(statistics, {{0, 1}, {0, 1}}, speeds, Messages::convert);
    std::vector<std::uint32_t> result;
    for (const TaskId t : Leaving(rows.phase, load_s).take()) result.push_back(rows.row_of_task[t]);
    return result;
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace poise::charm
