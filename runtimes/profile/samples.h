// SPDX-License-Identifier: BSD-3-Clause
// Records when a rank entered the collectives of a communicator. All its ranks record the same
// collectives.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace poise::profile {

/// The role of a rank in a collective: whether it can delay others, and whether it waits for
/// others.
struct Part {
  bool delays = false;  // other ranks cannot finish before this rank has come
  bool waits = false;   // this rank cannot finish before all that delay have come
};

struct Sample {
  std::uint64_t sequence = 0;  // number of the collective on its communicator
  std::int64_t entered_ns = 0, took_ns = 0;
  Part part = {};
};

/// Samples of a communicator's collectives. At first all collectives are kept. When
/// tuning::kMaxSamples are stored, every second one is dropped, and from then on only every second
/// one is kept, and so on. Which ones are kept depends only on their number, so all ranks keep the
/// same ones.
class Samples {
 public:
  /// To be called once per collective, which it counts. Returns true if keep() must store its
  /// sample.
  bool next() { return is_kept(sequence_++); }
  /// Stores the sample of the collective for which next() returned true.
  void keep(std::int64_t entered_ns, std::int64_t took_ns, Part part);

  std::span<const Sample> kept() const { return kept_; }
  std::uint64_t stride() const { return stride_; }

 private:
  bool is_kept(std::uint64_t sequence) const;

  std::uint64_t sequence_ = 0, stride_ = 1;
  std::vector<Sample> kept_;
};

/// The last rank to arrive among those for which others wait, and its time of arrival.
struct Last {
  double entered_s = 0;
  int rank = 0;
};

/// How long a rank waited in a sample: until the last rank arrived, but at most for the duration of
/// the call.
std::int64_t waited_ns(const Sample& sample, std::int64_t last_ns);

}  // namespace poise::profile
