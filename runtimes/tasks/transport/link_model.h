// How fast the links to other ranks are, learnt from messages.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>

#include "runtimes/tasks/transport/locality.h"

namespace poise::tasks {

/// A value that disturbances only ever make larger: it follows smaller values quickly, larger ones
/// slowly, and none as more than four times itself.
class RobustMin {
 public:
  explicit RobustMin(double initial) : value_(initial) {}
  void learn(double value) {
    const double taken = std::min(value, 4 * value_);
    value_ += (taken - value_) / (taken < value_ ? 4 : 32);
  }
  double value() const { return value_; }

 private:
  double value_;
};

/// The way to ranks that are equally far.
struct Link {
  RobustMin latency_s{10e-6};
  RobustMin seconds_per_byte{1e-10};

  /// A question came back answered. Answers to what was asked before this wait have slept through
  /// what the program did in between, and teach nothing.
  void learn_round_trip(double requested_at_s, double wait_since_s, double now_s) {
    if (requested_at_s >= wait_since_s) latency_s.learn(std::max(0.0, now_s - requested_at_s) / 2);
  }
  Link times(double factor) const {
    return {RobustMin(factor * latency_s.value()), RobustMin(factor * seconds_per_byte.value())};
  }
};

/// The ways to all groups of ranks. One of which nothing was learnt is longer than that inside the
/// own domain by the Machine's factor, or like those to other nodes; none is believed to be shorter
/// than that inside.
class LinkModel {
 public:
  double latency_s(const PeerLocality& to) const {
    return std::max(near_.latency_s.value(), link(to).latency_s.value());
  }
  double seconds_per_byte(const PeerLocality& to) const {
    return std::max(near_.seconds_per_byte.value(), link(to).seconds_per_byte.value());
  }
  /// Calls `learn` with each way that what happened on the way to this rank says something about.
  template <typename Learn>
  void learn(const PeerLocality& to, const Learn& learn) {
    if (to.distance <= 1) return learn(near_);
    learn(known_.try_emplace(to.group, guess(to)).first->second);
    if (std::isinf(to.distance)) learn(others_);
  }

 private:
  Link guess(const PeerLocality& to) const {
    return std::isinf(to.distance) ? others_ : near_.times(to.distance);
  }
  Link link(const PeerLocality& to) const {
    if (to.distance <= 1) return near_;
    const auto way = known_.find(to.group);
    return way == known_.end() ? guess(to) : way->second;
  }
  Link near_, others_;  // inside this domain; to any other node
  std::unordered_map<std::uint32_t, Link> known_;
};

}  // namespace poise::tasks
