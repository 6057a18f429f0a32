// SPDX-License-Identifier: BSD-3-Clause

#include "poise/workload/recorder.h"

#include <utility>

#include "poise/base/error.h"
#include "poise/workload/merge.h"

namespace poise {

Recorder::Recorder(std::vector<Task> tasks, std::uint32_t num_places)
    : tasks_(std::move(tasks)), num_places_(num_places) {
  for (Task& task : tasks_) task.load_s = 0;
}

Recorder::~Recorder() = default;

Recorder::Log& Recorder::add_thread() {
  const std::lock_guard lock(mutex_);
  logs_.push_back(std::make_unique<Log>(static_cast<TaskId>(tasks_.size()), num_places_));
  return *logs_.back();
}

Workload Recorder::end_phase(double now_s) {
  const std::lock_guard lock(mutex_);
  Workload phase;
  phase.tasks = tasks_;
  std::vector<Message> messages;
  std::string trouble;
  for (const auto& log : logs_) {
    if (!log->running_.empty()) log->charge(now_s);
    log->add_to(phase, messages);
    if (trouble.empty()) trouble = log->misuse();
    log->restart();
  }
  if (!trouble.empty()) fail("recorder: {}", trouble);
  phase.messages = merged(phase.num_tasks(), messages);
  return phase;
}

void Recorder::Log::add_to(Workload& phase, std::vector<Message>& messages) const {
  // A sum is 0 if its task, pair or place was used in the previous phase but not in this one.
  for (const auto& [task, load_s] : load_s_.entries()) phase.tasks[task].load_s += load_s;
  for (const auto& [pair, sent] : sent_.entries())
    if (sent.count > 0)
      messages.push_back(
          {static_cast<TaskId>(pair >> 32), static_cast<TaskId>(pair), sent.count, sent.bytes});
  for (const auto& [place, seconds] : background_s_.entries()) {
    if (seconds == 0) continue;
    phase.background_s.resize(num_places_);
    phase.background_s[place] += seconds;
  }
}

void Recorder::Log::note(Misuse misuse, std::uint32_t id) {
  if (misuse_ != Misuse::none) return;
  misuse_ = misuse;
  misused_id_ = id;
}

std::string Recorder::Log::misuse() const {
  switch (misuse_) {
    case Misuse::none: return "";
    case Misuse::no_such_task:
      return fmt::format("task {} does not exist; there are {}", misused_id_, num_tasks_);
    case Misuse::no_such_place:
      return fmt::format("place {} does not exist; there are {}", misused_id_, num_places_);
    case Misuse::not_running:
      return fmt::format("task {} ended, but is not the one its thread began last", misused_id_);
    case Misuse::ran_backwards:
      return fmt::format("time ran backwards while task {} was running", misused_id_);
    case Misuse::negative_background:
      return fmt::format("the background load of place {} is not at least 0", misused_id_);
  }
  return "";
}

void Recorder::Log::restart() {
  load_s_.restart();
  sent_.restart();
  background_s_.restart();
  misuse_ = Misuse::none;
}

}  // namespace poise
