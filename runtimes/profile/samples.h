// SPDX-License-Identifier: BSD-3-Clause
// Records when a rank entered the collectives of a communicator, a window or a file. All ranks of
// such an object record the same collectives.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace poise::profile {

/// The role of a rank in a collective: whether it can delay others, and whether it waits for
/// others.
struct Part {
  bool delays = false;  // other ranks cannot finish the collective before this rank arrives
  bool waits = false;   // this rank cannot finish before all ranks that set `delays` arrive
  /// MPI may, but need not, make the ranks wait for each other in this call, as in MPI_Win_fence
  /// and in collective calls on files. If one rank left the call before another rank entered it,
  /// the profile assumes that none waited.
  bool may_overtake = false;
  /// A rank waits only for ranks with lower numbers, as in MPI_Scan.
  bool is_for_lower = false;
};

struct Sample {
  /// The value of took_ns if a thread other than the initial one made the call, because the times
  /// of such threads are not recorded.
  static constexpr std::int64_t kUntimed = -1;

  std::uint64_t sequence = 0;  // index of the collective on its communicator
  std::int64_t entered_ns = 0, took_ns = 0;
  Part part = {};
};

/// Samples of a communicator's collectives. At first all collectives are kept. When
/// tuning::kMaxSamples are stored, every second sample is dropped, and from then on only every
/// second collective is kept; this is repeated as often as necessary. Whether a collective is kept
/// depends only on its position in the sequence of collectives, so all ranks keep the same ones.
class Samples {
 public:
  /// To be called once for each collective, to count it. Returns true if the collective's sample
  /// must be stored by keep().
  bool next() { return is_kept(sequence_++); }
  /// Stores the sample of the collective for which next() returned true.
  void keep(std::int64_t entered_ns, std::int64_t took_ns, Part part);

  std::uint64_t count() const { return sequence_; }  // number of collectives so far
  std::span<const Sample> kept() const { return kept_; }
  /// Moves the kept samples out.
  std::vector<Sample> taken() { return std::move(kept_); }
  std::uint64_t stride() const { return stride_; }

 private:
  bool is_kept(std::uint64_t sequence) const;

  std::uint64_t sequence_ = 0, stride_ = 1;
  std::vector<Sample> kept_;
};

/// The last rank to arrive at a collective, among the ranks for which others wait (in a broadcast,
/// only the root), and its time of arrival.
struct Last {
  double entered_s = 0;
  int rank = 0;
};

/// How long a rank waited in a sample: until the last rank arrived, but at most for the duration of
/// the call.
std::int64_t waited_ns(const Sample& sample, std::int64_t last_ns);

}  // namespace poise::profile
