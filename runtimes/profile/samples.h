// SPDX-License-Identifier: BSD-3-Clause
// When a rank entered the collectives of a communicator: the same instances on all its ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace poise::profile {

/// What a rank does in a collective whose ranks may wait for each other.
struct Part {
  bool delays = false;  // others cannot finish before it has come
  bool waits = false;   // it cannot finish before those who delay have come
};

struct Sample {
  std::uint64_t sequence = 0;  // number of the collective on its communicator
  std::int64_t entered_ns = 0, took_ns = 0;
  Part part = {};
};

/// Keeps all instances at first. When tuning::kMaxSamples have come together, the stride doubles:
/// which instances are kept depends on their number alone, so that all ranks keep the same.
class Samples {
 public:
  /// The number of the next collective, and whether it is kept. Call it once per collective.
  bool next() { return is_kept(sequence_++); }
  /// Keeps the collective that next() said is kept.
  void keep(std::int64_t entered_ns, std::int64_t took_ns, Part part);

  std::span<const Sample> kept() const { return kept_; }
  std::uint64_t stride() const { return stride_; }

 private:
  bool is_kept(std::uint64_t sequence) const;

  std::uint64_t sequence_ = 0, stride_ = 1;
  std::vector<Sample> kept_;
};

/// The rank that was last to come of those that others wait for, and when.
struct Last {
  double entered_s = 0;
  int rank = 0;
};

/// How long a rank waited in a sample: until the last had come, at most as long as the call took.
std::int64_t waited_ns(const Sample& sample, std::int64_t last_ns);

}  // namespace poise::profile
