// The part of the exchange that asks others for tasks.
#include <algorithm>
#include <limits>

#include "runtimes/tasks/offload/engine.h"
#include "runtimes/tasks/transport/clock.h"

namespace poise::tasks {

namespace {

constexpr double kMinStealPause_s = 20e-6, kMaxStealPause_s = 1e-3;  // between unanswered questions
constexpr double kWakeVictimAfter_s = 0.3e-3;  // without an answer of somebody who has tasks
constexpr std::size_t kMaxUnanswered = 8;

}  // namespace

// Whoever may have tasks and does not answer soon is inside a long one.
void OffloadEngine::wake_unresponsive_victims() {
  std::erase_if(unanswered_, [this](const Unanswered& question) {
    if (now_s_ - question.asked_s < kWakeVictimAfter_s) return false;
    if (!loads_.may_have_tasks(question.rank, termination_.wait())) return false;
    doorbells_.wake_progress(question.rank);
    return true;
  });
}

void OffloadEngine::steal_if_idle(const TaskPool::State& state) {
  if (!pull_ || state.queued >= threads_ || now_s_ < next_steal_s_) return;
  read_load_table();
  const auto whom = loads_.victim(termination_.wait(), now_s_, random_);
  if (!whom) return;
  // Whoever has tasks is given time to answer, but may be inside a long one.
  loads_.do_not_steal_from(*whom, termination_.wait(), std::numeric_limits<double>::infinity());
  steal_pause_s_ = std::clamp(2 * steal_pause_s_, kMinStealPause_s, kMaxStealPause_s);
  const bool has_tasks = loads_.has_tasks(*whom, termination_.wait());
  const double pause_s = has_tasks ? kMaxStealPause_s : steal_pause_s_;
  next_steal_s_ = now_s_ + std::max(pause_s, 4 * links_.latency_s(peers_[rank_].at));
  ++counters_.requests;
  send(*whom, begin(Kind::steal_request, *whom, clock_s()));
  unanswered_.push_back({*whom, now_s_});
  if (unanswered_.size() > kMaxUnanswered) unanswered_.pop_front();
}

void OffloadEngine::handle_answer(std::uint32_t from, double requested_at_s, bool with_tasks) {
  std::erase_if(unanswered_, [&](const Unanswered& question) { return question.rank == from; });
  if (!with_tasks && requested_at_s < wait_since_s_) return;  // says nothing about this wait
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
    peer.steal_backoff_s = std::clamp(2 * peer.steal_backoff_s, kMinStealPause_s, kMaxStealPause_s);
    loads_.do_not_steal_from(from, termination_.wait(), now_s_ + peer.steal_backoff_s);
    next_steal_s_ = now_s_;
  }
}

}  // namespace poise::tasks
