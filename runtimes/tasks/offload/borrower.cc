// The part of the exchange that asks others for tasks.
#include <algorithm>
#include <limits>

#include "runtimes/tasks/offload/engine.h"
#include "runtimes/tasks/transport/clock.h"

namespace poise::tasks {

namespace {

constexpr double kFirstPause_s = 20e-6, kLongestPause_s = 1e-3;  // between unanswered questions
constexpr double kTillCall_s = 0.3e-3;  // without an answer of somebody who has tasks
constexpr std::size_t kMostUnanswered = 8;

}  // namespace

// Whoever may have tasks and does not answer soon is inside a long one.
void Exchange::call_if_unanswered() {
  std::erase_if(unanswered_, [this](const Unanswered& question) {
    if (now_s_ - question.asked_s < kTillCall_s) return false;
    if (!loads_.may_have_tasks(question.rank, wave_.wait())) return false;
    bells_.call(question.rank);
    return true;
  });
}

void Exchange::ask_if_hungry(const Workplace::State& state) {
  if (!pull_ || state.queued >= threads_ || now_s_ < next_ask_s_) return;
  hear_node();
  const auto whom = loads_.lender(wave_.wait(), now_s_, random_);
  if (!whom) return;
  // Whoever has tasks is given time to answer, but may be inside a long one.
  loads_.do_not_ask(*whom, wave_.wait(), std::numeric_limits<double>::infinity());
  ask_pause_s_ = std::clamp(2 * ask_pause_s_, kFirstPause_s, kLongestPause_s);
  const bool has_tasks = loads_.has_tasks(*whom, wave_.wait());
  const double pause_s = has_tasks ? kLongestPause_s : ask_pause_s_;
  next_ask_s_ = now_s_ + std::max(pause_s, 4 * ways_.latency_s(peers_[rank_].at));
  ++counters_.requests;
  send(*whom, begin(Kind::request, *whom, clock_s()));
  unanswered_.push_back({*whom, now_s_});
  if (unanswered_.size() > kMostUnanswered) unanswered_.pop_front();
}

void Exchange::answered(std::uint32_t from, double asked_at_s, bool with_tasks) {
  std::erase_if(unanswered_, [&](const Unanswered& question) { return question.rank == from; });
  if (!with_tasks && asked_at_s < wait_since_s_) return;  // says nothing about this wait
  Peer& peer = peers_[from];
  if (asked_at_s > 0) {
    ways_.learn(peer.at, [&, now_s = clock_s()](Way& way) {
      way.answered(asked_at_s, wait_since_s_, now_s);
    });
    loads_.do_not_ask(from, wave_.wait(), 0);
  }
  if (with_tasks) {
    ask_pause_s_ = next_ask_s_ = 0;
    peer.patience_s = 0;
  } else {
    ++counters_.declines;
    peer.patience_s = std::clamp(2 * peer.patience_s, kFirstPause_s, kLongestPause_s);
    loads_.do_not_ask(from, wave_.wait(), now_s_ + peer.patience_s);
    next_ask_s_ = now_s_;
  }
}

}  // namespace poise::tasks
