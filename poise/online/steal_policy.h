// SPDX-License-Identifier: BSD-3-Clause
// Decides when an idle rank requests tasks, and from which rank.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "poise/base/random.h"
#include "poise/online/peer_table.h"

namespace poise {

/// A request for tasks. If it is a lasting request, the victim does not decline it but remembers
/// the thief until the victim has tasks or the wait ends.
struct StealRequest {
  std::uint32_t victim = 0;
  bool is_lasting = false;
};

/// The thief's side of work stealing. A thief sends requests to ranks known to have tasks,
/// otherwise to ranks to which it has lent tasks, otherwise to a few random ranks. After
/// kRandomTries declined requests it first sends each of its partners one lasting request. Then it
/// sends requests only to ranks known to have tasks, and pauses before each, so idle ranks become
/// silent. This pause doubles with every declined request, up to kMaxPause_s. The lasting requests
/// are the lifelines of Saraswat et al., "Lifeline-based global load balancing", PPoPP 2011.
///
/// In addition, a victim that declines is excluded (not asked again) for a while; this time doubles
/// whenever the same victim declines again. When tasks arrive, two times are reset to their
/// minimum: the pause between requests, and the time for which the sender of the tasks will be
/// excluded if it declines.
class StealPolicy {
 public:
  void enter(double now_s);

  /// Returns the request that an idle rank should send now, if any. `latency_s` is the latency
  /// inside the node.
  std::optional<StealRequest> next(PeerTable& peers, std::uint64_t wait, double now_s,
                                   double latency_s, Random& random);

  /// To be called when tasks have arrived from a rank, either as the answer to a request or
  /// unasked.
  void got_tasks(PeerTable& peers, std::uint32_t from, bool asked, double now_s);
  /// To be called when a rank has declined a request that this rank sent in the current wait.
  void was_declined(PeerTable& peers, std::uint32_t from, double now_s);

  /// True if `rank` remembers a lasting request (StealRequest::is_lasting) of this rank.
  bool is_remembered_by(const PeerTable& peers, std::uint32_t rank) const {
    return (remembered_by_ & bit_of(peers, rank)) != 0;
  }

  /// Returns the victims that may have tasks but have not answered a request for kNewsDelay_s
  /// seconds; they are probably inside a long task. Each request is reported only once.
  std::vector<std::uint32_t> unresponsive(const PeerTable& peers, std::uint64_t wait, double now_s);

  /// True if this rank will send no further request until a message arrives: each partner either
  /// remembers this rank or has not yet answered its request, and no other rank seems to have
  /// tasks.
  bool is_silent(const PeerTable& peers, std::uint64_t wait, double now_s) const;
  /// Returns the time before which no request is due.
  double next_s() const { return next_s_; }

 private:
  static std::uint32_t bit_of(const PeerTable& peers, std::uint32_t partner);
  static std::optional<std::uint32_t> seeming_victim(const PeerTable& peers, std::uint64_t wait,
                                                     double now_s);
  void forget_request(const PeerTable& peers, std::uint32_t victim);
  std::optional<StealRequest> choose(const PeerTable& peers, std::uint64_t wait, double now_s,
                                     Random& random);
  struct Unanswered {
    std::uint32_t rank;
    double sent_s;
  };
  std::deque<Unanswered> unanswered_;  // the latest requests without an answer
  double next_s_ = 0, pause_s_ = 0;
  std::uint32_t remembered_by_ = 0;  // bit i: partner i has a lasting request of this rank
  std::uint32_t declined_ = 0;       // requests declined since tasks last arrived
};

}  // namespace poise
