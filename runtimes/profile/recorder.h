// SPDX-License-Identifier: BSD-3-Clause
// Adds up the times of one rank: what it did outside MPI, and inside by kind of call.
#pragma once

#include <array>
#include <cstdint>

#include "runtimes/profile/phase_finder.h"
#include "runtimes/profile/series.h"
#include "runtimes/profile/tuning.h"

namespace poise::profile {

/// The ways to cut a run into phases; the best one that all ranks agree on is chosen at the end.
enum class Cuts : std::uint8_t {
  pcontrol,     // by MPI_Pcontrol
  collectives,  // by the period of the string of collectives
  slices,       // by time
};
inline constexpr int kNumCuts = 3;

/// Times come in as arguments. A CPU clock is read only where the recorder asks for it.
class Recorder {
 public:
  /// `slice_ns`: length of time slices.
  void start(std::int64_t now_ns, std::int64_t cpu_ns, const Machinery& machinery,
             std::int64_t slice_ns = tuning::kSlice_ns);

  /// The program calls MPI. True if read_cpu() is wanted before leave().
  bool enter(std::int64_t now_ns) {
    const std::int64_t stretch_ns = now_ns - left_ns_;
    sums_.totals.useful_ns += stretch_ns;
    return stretch_ns >= tuning::kLongStretch_ns;
  }
  /// The CPU clock at the entry of the call that enter() announced.
  void read_cpu_at_entry(std::int64_t now_ns, std::int64_t cpu_ns);

  /// The call returns. True if read_cpu_at_exit() is wanted.
  bool leave(std::int64_t entered_ns, std::int64_t now_ns, Kind kind) {
    const auto k = static_cast<std::size_t>(kind);
    sums_.totals.mpi_ns[k] += now_ns - entered_ns;
    ++sums_.totals.calls[k];
    left_ns_ = now_ns;
    return now_ns - cpu_read_ns_ >= tuning::kLongStretch_ns;
  }
  /// The call that has left may have waited for another rank.
  void may_wait(WaitsFor what, std::int64_t took_ns) {
    const auto w = static_cast<std::size_t>(what);
    sums_.totals.may_wait_ns[w] += took_ns;
    ++sums_.totals.may_wait_calls[w];
  }
  void read_cpu_at_exit(std::int64_t now_ns, std::int64_t cpu_ns);
  /// What the profile itself did since leave() is not the program's.
  void resume(std::int64_t now_ns) { left_ns_ = now_ns; }

  Sums& sums() { return sums_; }

  /// A collective on all ranks by the initial thread. True if an iteration ends with it: cut then.
  bool collective(std::uint64_t token);
  /// Whether the running time slice is over.
  bool slice_is_over(std::int64_t now_ns) const { return now_ns >= slice_end_ns_; }
  /// Ends the running phase of this kind, and returns it.
  Phase cut(Cuts cuts, std::int64_t now_ns, const Machinery& machinery, std::uint64_t label = 0);
  /// Ends all slices that are over, before enter(): a useful stretch is divided among them.
  std::vector<Phase> cut_slices(std::int64_t now_ns, const Machinery& machinery);

  Series& series(Cuts cuts) { return series_[static_cast<std::size_t>(cuts)]; }

 private:
  Sums sums_;
  std::array<Series, kNumCuts> series_;
  PhaseFinder finder_;
  std::int64_t left_ns_ = 0;                   // when the last call of MPI returned
  std::int64_t cpu_read_ns_ = 0, cpu_ns_ = 0;  // when the CPU clock was last read, and what it said
  std::int64_t slice_ns_ = tuning::kSlice_ns, slice_end_ns_ = 0;
};

}  // namespace poise::profile
