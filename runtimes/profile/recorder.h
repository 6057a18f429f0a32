// SPDX-License-Identifier: BSD-3-Clause
// Adds up the times of one rank: outside MPI, and inside MPI by kind of call.
#pragma once

#include <array>
#include <cstdint>

#include "runtimes/profile/phase_finder.h"
#include "runtimes/profile/series.h"
#include "runtimes/profile/tuning.h"

#include "poise/base/enum_index.h"

namespace poise::profile {

/// The ways to divide a run into phases, best first. At the end, the best one on which all ranks
/// agree is chosen.
enum class Cuts : std::uint8_t {
  pcontrol,     // by MPI_Pcontrol
  collectives,  // a phase is an iteration, found as a repeated sequence of collectives
  slices,       // by time
};
inline constexpr int kNumCuts = 3;

/// Takes all times as arguments. Because reading the CPU clock is slow, the caller reads it only if
/// is_long_until() or is_read_due() is true.
class Recorder {
 public:
  /// `slice_ns` is the length of the time slices.
  void start(std::int64_t now_ns, std::int64_t cpu_ns, const Machinery& machinery,
             std::int64_t slice_ns = tuning::kSlice_ns);

  /// True if the program has been outside MPI for so long that enter(now_ns) will return true.
  bool is_long_until(std::int64_t now_ns) const {
    return now_ns - left_ns_ >= tuning::kLongStretch_ns;
  }
  /// To be called when the program calls MPI. Returns true if read_cpu_at_entry() must be called
  /// before leave().
  /// `is_poll`: the call only asks whether messages have arrived, like MPI_Test. A short time
  /// between a poll that found nothing and the next poll is part of a waiting loop, so it counts
  /// as time in MPI. Such a loop is treated like one call that waits.
  bool enter(std::int64_t now_ns, bool is_poll = false) {
    const std::int64_t stretch_ns = now_ns - left_ns_;
    entered_ns_ = now_ns;
    is_in_loop_ = is_poll && was_poll_empty_;
    const bool is_long = is_long_until(now_ns);
    if (is_in_loop_ && is_gap_of_loop(now_ns)) {
      sums_.totals.mpi_ns[index_of(Kind::wait)] += stretch_ns;
    } else {
      sums_.totals.useful_ns += stretch_ns;
      // After a long stretch between two polls, read_cpu_at_entry() decides whether the two polls
      // belong to the same loop.
      if (!is_in_loop_ || !is_long) begin_wait(now_ns);
    }
    return is_long;
  }
  /// Stores what was read at the entry of the call for which enter() returned true. `cpu_ns` is
  /// what the CPU clock showed. `queued_ns` is the total time since the thread started in which it
  /// was ready to run but not on a cpu.
  void read_cpu_at_entry(std::int64_t now_ns, std::int64_t cpu_ns, std::int64_t queued_ns);
  /// True if the thread has been off the cpu for a notable time since the last read of the CPU
  /// clock. Otherwise the caller need not find out for how long the thread has been queued, and
  /// passes queued_ns() instead.
  bool was_off_cpu(std::int64_t now_ns, std::int64_t cpu_ns) const {
    return now_ns - cpu_read_ns_ - (cpu_ns - cpu_ns_) >= tuning::kLongStretch_ns;
  }
  /// The queued time that was stored last.
  std::int64_t queued_ns() const { return queued_ns_; }

  /// True if leave(…, now_ns, …), called now, would return true: the time since the CPU clock was
  /// last read is long enough to read it again.
  bool is_read_due(std::int64_t now_ns) const { return now_ns - cpu_read_ns_ >= read_pause_ns_; }
  /// To be called when the MPI call returns. Returns true if read_cpu_at_exit() must be called.
  bool leave(std::int64_t entered_ns, std::int64_t now_ns, Kind kind) {
    const auto k = index_of(kind);
    sums_.totals.mpi_ns[k] += now_ns - entered_ns;
    ++sums_.totals.calls[k];
    left_ns_ = now_ns;
    was_poll_empty_ = false;
    return is_read_due(now_ns);
  }
  /// To be called instead of leave() if the program has jumped out of the call. The time since the
  /// call then counts as useful.
  void forget_call() { left_ns_ = entered_ns_; }
  /// The time at which the last call to MPI returned.
  std::int64_t left_ns() const { return left_ns_; }
  /// Records that the call which has just returned was a poll that found nothing.
  void poll_was_empty() { was_poll_empty_ = true; }
  /// When the program began to wait for what the current call waits for: the entry of the call or,
  /// in a loop of polls, of the loop's first poll.
  std::int64_t wait_begun_ns() const { return wait_begun_ns_; }
  /// Records that the call which has just returned may have waited for another rank.
  void may_wait(WaitsFor what, std::int64_t took_ns) {
    const auto w = index_of(what);
    sums_.totals.may_wait_ns[w] += took_ns;
    ++sums_.totals.may_wait_calls[w];
  }
  void read_cpu_at_exit(std::int64_t now_ns, std::int64_t cpu_ns, std::int64_t queued_ns);
  /// To be called just before the profile returns control to the program. The time since leave(),
  /// in which the profile itself worked, is not counted as the program's.
  void resume(std::int64_t now_ns) { left_ns_ = now_ns; }

  Sums& sums() { return sums_; }

  /// Records that the initial thread called a collective of all ranks. If this function returns
  /// true, an iteration has ended and the caller must call cut().
  bool collective(std::uint64_t token, bool synchronises);
  /// True if the current time slice is over and can end now. A slice does not end inside a loop of
  /// polls, just as it does not end inside a call.
  bool slice_is_over(std::int64_t now_ns, bool is_poll = false) const {
    return now_ns >= slice_end_ns_ && !(is_poll && was_poll_empty_ && is_gap_of_loop(now_ns));
  }
  /// Ends the current phase of one division of the run (by MPI_Pcontrol, by iterations or by time)
  /// and returns this phase. The next phase of this division gets the label `label`.
  Phase cut(Cuts cuts, std::int64_t now_ns, const Machinery& machinery, std::uint64_t label = 0);
  /// Ends all time slices that are over. To be called before enter(), so that the time since the
  /// last MPI call is divided among all slices that it spans. `cpu_ns` is what the CPU clock shows.
  std::vector<Phase> cut_slices(std::int64_t now_ns, std::int64_t cpu_ns,
                                const Machinery& machinery, bool is_poll = false);

  Series& series(Cuts cuts) { return series_[index_of(cuts)]; }

 private:
  /// True if the time from an empty poll to the next poll at `now_ns` is so short that the rank did
  /// not compute in between.
  bool is_gap_of_loop(std::int64_t now_ns) const {
    const std::int64_t gap_ns = now_ns - left_ns_;
    return gap_ns < tuning::kPollGap_ns ||
           (gap_ns < tuning::kLongStretch_ns &&
            gap_ns * tuning::kPollGapShare < now_ns - wait_begun_ns_);
  }
  std::int64_t used_since_poll_ns(std::int64_t cpu_ns) const;
  bool is_pause(std::int64_t cpu_ns) const;
  void begin_wait(std::int64_t now_ns) {
    wait_begun_ns_ = now_ns;
    excused_ns_ = 0;
  }
  /// The fractions of a stretch in which the thread ran on a cpu, and in which it waited for one.
  struct Shares {
    double on_cpu = 0, queued = 0;
  };
  Shares shares(std::int64_t now_ns, std::int64_t cpu_ns, std::int64_t queued_ns,
                std::int64_t useful_ns) const;
  void add_long(std::int64_t wall_ns, const Shares& shares);
  void keep_read(std::int64_t now_ns, std::int64_t cpu_ns, std::int64_t queued_ns);

  Sums sums_;
  std::array<Series, kNumCuts> series_;
  PhaseFinder finder_;
  std::int64_t left_ns_ = 0;        // see left_ns()
  std::int64_t entered_ns_ = 0;     // when the program last called MPI
  std::int64_t wait_begun_ns_ = 0;  // see wait_begun_ns()
  std::int64_t excused_ns_ = 0;  // sum of the CPU times of pauses that used at least kPollGapCpu_ns
  bool was_poll_empty_ = false;  // the last call was a poll that found nothing
  bool is_in_loop_ = false;      // the last stretch was between two polls
  std::int64_t cpu_read_ns_ = 0, cpu_ns_ = 0;  // time and result of the last read of the CPU clock
  std::int64_t useful_at_read_ns_ = 0;         // the useful time until the last read
  std::int64_t queued_ns_ = 0;                 // see queued_ns()
  /// Minimum time from a read of the CPU clock to the next read at the end of a call.
  std::int64_t read_pause_ns_ = tuning::kLongStretch_ns;
  std::int64_t slice_ns_ = tuning::kSlice_ns, slice_end_ns_ = 0;
};

}  // namespace poise::profile
