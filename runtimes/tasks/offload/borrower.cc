// SPDX-License-Identifier: BSD-3-Clause
// The part of the offload engine that sends steal requests and handles the answers.
#include <algorithm>
#include <limits>

#include "runtimes/tasks/offload/engine.h"
#include "runtimes/tasks/transport/clock.h"
#include "runtimes/tasks/tuning.h"

namespace poise::tasks {

// A victim that has tasks but does not answer soon is probably inside a long task.
void OffloadEngine::wake_unresponsive_victims() {
  std::erase_if(unanswered_, [this](const Unanswered& request) {
    if (now_s_ - request.sent_s < tuning::kWakeVictimAfter_s) return false;
    if (!loads_.may_have_tasks(request.rank, termination_.wait())) return false;
    doorbells_.wake_progress(request.rank);
    return true;
  });
}

void OffloadEngine::steal_if_idle(const TaskPool::State& state) {
  if (!pull_ || state.queued >= threads_ || now_s_ < next_steal_s_) return;
  read_load_table();
  const auto victim = loads_.victim(termination_.wait(), now_s_, random_);
  if (!victim) return;
  // Sends the victim no further request until it has answered, as it may be inside a long task.
  loads_.do_not_steal_from(*victim, termination_.wait(), std::numeric_limits<double>::infinity());
  steal_pause_s_ =
      std::clamp(2 * steal_pause_s_, tuning::kMinStealPause_s, tuning::kMaxStealPause_s);
  const bool has_tasks = loads_.has_tasks(*victim, termination_.wait());
  const double pause_s = has_tasks ? tuning::kMaxStealPause_s : steal_pause_s_;
  next_steal_s_ =
      now_s_ + std::max(pause_s, tuning::kStealPauseLatencies * links_.latency_s(peers_[rank_].at));
  ++counters_.requests;
  send(*victim, begin(Kind::steal_request, *victim, clock_s()));
  unanswered_.push_back({*victim, now_s_});
  if (unanswered_.size() > tuning::kMaxUnanswered) unanswered_.pop_front();
}

void OffloadEngine::handle_answer(std::uint32_t from, double requested_at_s, bool with_tasks) {
  std::erase_if(unanswered_, [&](const Unanswered& request) { return request.rank == from; });
  if (!with_tasks && requested_at_s < wait_since_s_)
    return;  // the rank declined a request of an earlier wait
  Peer& peer = peers_[from];
  if (requested_at_s > 0) {
    links_.learn(peer.at, [&, now_s = clock_s()](Link& way) {
      way.learn_round_trip(requested_at_s, wait_since_s_, now_s);
    });
    loads_.do_not_steal_from(from, termination_.wait(), 0);
  }
  if (with_tasks) {
    steal_pause_s_ = next_steal_s_ = 0;
    peer.steal_backoff_s = 0;
  } else {
    ++counters_.declines;
    peer.steal_backoff_s =
        std::clamp(2 * peer.steal_backoff_s, tuning::kMinStealPause_s, tuning::kMaxStealPause_s);
    loads_.do_not_steal_from(from, termination_.wait(), now_s_ + peer.steal_backoff_s);
    next_steal_s_ = now_s_;
  }
}

}  // namespace poise::tasks
