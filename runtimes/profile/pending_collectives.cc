// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/pending_collectives.h"

#include "runtimes/profile/tuning.h"

namespace poise::profile {

std::vector<PendingCollectives::Active> PendingCollectives::found(const Function& function,
                                                                  const Arguments& arguments) {
  std::vector<Active> result;
  for (int i = 0; i < arguments.num_requests(); ++i) {
    const Word request = arguments.request(function.request, i);
    if (const Pending* const collective = pending_.find(request))
      result.push_back({request, i, *collective});
  }
  return result;
}

void PendingCollectives::before(const Function& function, const Arguments& arguments) {
  active_ = found(function, arguments);
}

bool PendingCollectives::after(const Function& function, const Arguments& arguments,
                               std::int64_t begun_ns, std::int64_t left_ns) {
  if (active_.empty()) return false;
  bool may_wait = false;
  Completed completed(function, arguments);
  for (const Active& active : active_) {
    if (!completed.contains(active.index, active.request, active.collective.is_persistent))
      continue;
    pending_.erase(active.request);
    may_wait = true;
    if (active.collective.communicator != 0 && completions_.size() < tuning::kMaxCompletions)
      completions_.push_back({active.collective.communicator, active.collective.sequence, begun_ns,
                              left_ns - begun_ns});
  }
  active_.clear();
  return may_wait;
}

void PendingCollectives::forget_call() {
  for (const Active& active : active_) pending_.erase(active.request);
  active_.clear();
}

void PendingCollectives::forget(const Function& function, const Arguments& arguments) {
  for (const Active& active : found(function, arguments)) pending_.erase(active.request);
}

}  // namespace poise::profile
