// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/steal_policy.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace poise {

namespace {
using lending_tuning::kMaxPause_s;
using lending_tuning::kMinPause_s;

double pause_after(std::uint32_t declines) {
  return std::min(kMaxPause_s, std::ldexp(kMinPause_s, static_cast<int>(declines) - 1));
}
}  // namespace

// Returns the partner's bit in remembered_by_, or 0 if the rank is not a partner.
std::uint32_t StealPolicy::bit_of(const PeerTable& peers, std::uint32_t partner) {
  const auto partners = peers.partners();
  const auto found = std::ranges::find(partners, partner);
  return found == partners.end() ? 0 : 1U << (found - partners.begin());
}

// Returns a rank that seems to have tasks and is not excluded.
std::optional<std::uint32_t> StealPolicy::seeming_victim(const PeerTable& peers, std::uint64_t wait,
                                                         double now_s) {
  const auto known = peers.known_victim(wait, now_s);
  return known ? known : peers.holder(wait, now_s);
}

void StealPolicy::enter(double now_s) {
  unanswered_.clear();
  pause_s_ = 0;
  next_s_ = now_s;
  declined_ = remembered_by_ = 0;
}

std::optional<StealRequest> StealPolicy::choose(const PeerTable& peers, std::uint64_t wait,
                                                double now_s, Random& random) {
  const bool asks_partners = declined_ >= lending_tuning::kRandomTries;
  // Requests to partners come before requests to ranks that seem to have tasks. Near the end of a
  // wait, most of these ranks have no tasks left when a request arrives. They would decline it, and
  // their answers would pass on outdated loads.
  for (const std::uint32_t partner : peers.partners())
    if (asks_partners && !is_remembered_by(peers, partner) && peers.may_be_victim(partner, now_s))
      return StealRequest{partner, true};
  if (const auto victim = seeming_victim(peers, wait, now_s)) return StealRequest{*victim, false};
  if (asks_partners) return std::nullopt;
  if (const auto victim = peers.random_victim(now_s, random)) return StealRequest{*victim, false};
  return std::nullopt;
}

std::optional<StealRequest> StealPolicy::next(PeerTable& peers, std::uint64_t wait, double now_s,
                                              double latency_s, Random& random) {
  if (now_s < next_s_) return std::nullopt;
  const auto request = choose(peers, wait, now_s, random);
  if (!request) return std::nullopt;
  // The victim gets no further request until it has answered, because it may be inside a long task.
  peers.do_not_steal_from(request->victim, std::numeric_limits<double>::infinity());
  pause_s_ = std::clamp(2 * pause_s_, kMinPause_s, kMaxPause_s);
  const double pause_s = peers.has_tasks(request->victim, wait) ? kMaxPause_s : pause_s_;
  next_s_ = now_s + (request->is_lasting ? 0 : std::max(pause_s, 2 * latency_s));
  if (request->is_lasting) remembered_by_ |= bit_of(peers, request->victim);
  unanswered_.push_back({request->victim, now_s});
  if (unanswered_.size() > lending_tuning::kMaxSearched) unanswered_.pop_front();
  return request;
}

bool StealPolicy::is_silent(const PeerTable& peers, std::uint64_t wait, double now_s) const {
  const auto is_asked = [&](std::uint32_t partner) {
    if (is_remembered_by(peers, partner)) return true;
    const Peer* const peer = peers.find(partner);
    return peer && std::isinf(peer->excluded_until_s);
  };
  return now_s >= next_s_ && std::ranges::all_of(peers.partners(), is_asked) &&
         !seeming_victim(peers, wait, now_s);
}

void StealPolicy::forget_request(const PeerTable& peers, std::uint32_t victim) {
  std::erase_if(unanswered_, [&](const Unanswered& request) { return request.rank == victim; });
  remembered_by_ &= ~bit_of(peers, victim);
}

void StealPolicy::got_tasks(PeerTable& peers, std::uint32_t from, bool asked, double now_s) {
  next_s_ = now_s;
  pause_s_ = 0;
  declined_ = 0;
  Peer& peer = peers.at(from);
  peer.declines = 0;
  if (!asked) return;
  peer.excluded_until_s = 0;
  forget_request(peers, from);
}

void StealPolicy::was_declined(PeerTable& peers, std::uint32_t from, double now_s) {
  forget_request(peers, from);
  ++declined_;
  // If many requests were declined, idle ranks probably far outnumber ranks with tasks. Without a
  // pause, all idle ranks would send requests to the next rank known to have tasks. These requests
  // would keep that rank from working.
  const bool are_many = declined_ > lending_tuning::kRandomTries;
  next_s_ = now_s + (are_many ? pause_after(declined_ - lending_tuning::kRandomTries) : 0);
  Peer& peer = peers.at(from);
  if (peer.declines == 0 || pause_after(peer.declines) < kMaxPause_s) ++peer.declines;
  peer.excluded_until_s = now_s + pause_after(peer.declines);
}

std::vector<std::uint32_t> StealPolicy::unresponsive(const PeerTable& peers, std::uint64_t wait,
                                                     double now_s) {
  std::vector<std::uint32_t> ranks;
  std::erase_if(unanswered_, [&](const Unanswered& request) {
    if (now_s - request.sent_s < lending_tuning::kNewsDelay_s) return false;
    if (!peers.may_have_tasks(request.rank, wait)) return false;
    ranks.push_back(request.rank);
    return true;
  });
  return ranks;
}

}  // namespace poise
