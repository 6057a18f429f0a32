// SPDX-License-Identifier: BSD-3-Clause
// A model of the links to other ranks: latency and time per byte, learnt from messages.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>

#include "poise/online/lending_tuning.h"
#include "poise/online/moving_average.h"

namespace poise {

/// The location of another rank relative to this rank.
struct PeerLocality {
  // The group of the other rank, named by the lowest rank in the group. If the other rank is on
  // this rank's node, the group is the other rank's memory domain; otherwise the group is the other
  // rank's whole node.
  std::uint32_t group = 0;
  // The Machine's latency factor between the memory domains of the two ranks; infinite if the ranks
  // are on different nodes.
  double distance = 1;
};

/// A running minimum that can rise again. Disturbances only lengthen a measured time. So the
/// minimum follows smaller samples quickly and larger ones slowly, and each sample is capped at a
/// multiple of the present minimum.
class RobustMin {
 public:
  explicit RobustMin(double initial) : value_(initial) {}
  void learn(double value) {
    // With this weight, even an outlier raises the minimum by less than the fraction kMaxWeight.
    const double weight_of_larger = lending_tuning::kMaxWeight / lending_tuning::kOutlier;
    value_ = moved_average(value_, value, value < value_ ? weight_of_smaller() : weight_of_larger);
  }
  double value() const { return value_; }

 private:
  double value_;
};

/// The link to one rank, or to several ranks at the same distance. Its latency and its seconds per
/// byte are the quantities L and G of the LogGP model.
struct LearntLink {
  RobustMin latency_s{lending_tuning::kMinPause_s / 2};
  RobustMin seconds_per_byte{lending_tuning::kInitialPerByte_s};

  /// Learns the latency from a steal request and its answer. Ignores a request sent before this
  /// rank began to wait: the answer may have arrived, but not been read, while the program did
  /// something else.
  void learn_round_trip(double requested_at_s, double wait_since_s, double now_s) {
    if (requested_at_s >= wait_since_s) latency_s.learn(std::max(0.0, now_s - requested_at_s) / 2);
  }
  LearntLink times(double factor) const {
    return {RobustMin(factor * latency_s.value()), RobustMin(factor * seconds_per_byte.value())};
  }
};

/// The links to all groups of ranks: this rank's memory domain, each other domain of its node, and
/// each other node. Until the link to a group is learnt, its latency and time per byte are guessed.
/// Inside the node, the guess is the value of this rank's domain times the Machine's factor. For
/// another node, the guess is the average over all other nodes. No link is assumed to be faster
/// than the link inside this rank's domain. At most kMaxSearched groups have links of their own.
/// All further nodes have the average link.
class LinkModel {
 public:
  double latency_s(const PeerLocality& to) const {
    return std::max(near_.latency_s.value(), link(to).latency_s.value());
  }
  double seconds_per_byte(const PeerLocality& to) const {
    return std::max(near_.seconds_per_byte.value(), link(to).seconds_per_byte.value());
  }
  /// Calls `learn` with each link whose cost can be learnt from a message between this rank and a
  /// rank at the location `to`.
  template <typename Learn>
  void learn(const PeerLocality& to, const Learn& learn) {
    if (to.distance <= 1) return learn(near_);
    if (known_.contains(to.group) || known_.size() < lending_tuning::kMaxSearched)
      learn(known_.try_emplace(to.group, guess(to)).first->second);
    if (std::isinf(to.distance)) learn(other_nodes_);
  }

 private:
  LearntLink guess(const PeerLocality& to) const {
    return std::isinf(to.distance) ? other_nodes_ : near_.times(to.distance);
  }
  LearntLink link(const PeerLocality& to) const {
    if (to.distance <= 1) return near_;
    const auto known = known_.find(to.group);
    return known == known_.end() ? guess(to) : known->second;
  }

  LearntLink near_;         // link to ranks of this rank's memory domain
  LearntLink other_nodes_;  // average of the links to all other nodes
  std::unordered_map<std::uint32_t, LearntLink> known_;  // by group number
};

}  // namespace poise
