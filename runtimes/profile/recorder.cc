// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/recorder.h"

#include <algorithm>

namespace poise::profile {

namespace {

/// Returns the kernel's measurements after the fraction `part` of the time between two readings, by
/// linear interpolation.
Machinery between(const Machinery& before, const Machinery& now, double part) {
  Machinery at = now;
  at.run_ns = before.run_ns + static_cast<std::int64_t>(part * (now.run_ns - before.run_ns));
  at.queued_ns =
      before.queued_ns + static_cast<std::int64_t>(part * (now.queued_ns - before.queued_ns));
  return at;
}

}  // namespace

void Recorder::start(std::int64_t now_ns, std::int64_t cpu_ns, const Machinery& machinery,
                     std::int64_t slice_ns) {
  left_ns_ = cpu_read_ns_ = now_ns;
  cpu_ns_ = cpu_ns;
  queued_ns_ = machinery.queued_ns;
  slice_ns_ = slice_ns;
  slice_end_ns_ = now_ns + slice_ns;
  for (Series& series : series_) series.start(now_ns, sums_, machinery);
}

/// Returns the fractions of the current stretch (the time since the last MPI call) in which the
/// thread ran and in which it was queued. `useful_ns` is the useful time before this stretch. Since
/// the CPU clock was last read, there may have been MPI calls and short stretches. The thread is
/// assumed to have run during all of the short stretches (useful_cpu_ns()). The rest of the CPU
/// time since that read is spread evenly over the MPI calls and this stretch. In these MPI calls
/// the thread hardly waited for a cpu; otherwise the clock would have been read at their end.
Recorder::Shares Recorder::shares(std::int64_t now_ns, std::int64_t cpu_ns, std::int64_t queued_ns,
                                  std::int64_t useful_ns) const {
  const std::int64_t short_ns = useful_ns - useful_at_read_ns_;
  const double wall_ns = std::max<std::int64_t>(1, now_ns - cpu_read_ns_ - short_ns);
  const double on_cpu = std::clamp((cpu_ns - cpu_ns_ - short_ns) / wall_ns, 0.0, 1.0);
  const double stretch_ns = std::max<std::int64_t>(1, now_ns - left_ns_);
  return {on_cpu, std::clamp((queued_ns - queued_ns_) / stretch_ns, 0.0, 1 - on_cpu)};
}

/// The CPU time that the rank used in the long stretch between two polls that ends now. From the
/// last read of the CPU clock to the start of this stretch, the rank polled, so it is assumed to
/// have run all that time.
std::int64_t Recorder::used_since_poll_ns(std::int64_t cpu_ns) const {
  return cpu_ns - cpu_ns_ - (left_ns_ - cpu_read_ns_);
}

/// True if the long stretch between two polls that ends now is a pause: the rank slept, or yielded
/// its core to other threads.
bool Recorder::is_pause(std::int64_t cpu_ns) const {
  const std::int64_t used_ns = used_since_poll_ns(cpu_ns);
  return used_ns < tuning::kPollGapCpu_ns ||
         (excused_ns_ + used_ns) * tuning::kPollGapShare < left_ns_ - wait_begun_ns_;
}

void Recorder::add_long(std::int64_t wall_ns, const Shares& shares) {
  sums_.totals.long_wall_ns += wall_ns;
  sums_.totals.long_cpu_ns += static_cast<std::int64_t>(wall_ns * shares.on_cpu);
  sums_.totals.useful_queued_ns += static_cast<std::int64_t>(wall_ns * shares.queued);
}

void Recorder::keep_read(std::int64_t now_ns, std::int64_t cpu_ns, std::int64_t queued_ns) {
  cpu_read_ns_ = now_ns;
  cpu_ns_ = cpu_ns;
  queued_ns_ = queued_ns;
  useful_at_read_ns_ = sums_.totals.useful_ns;
}

void Recorder::read_cpu_at_entry(std::int64_t now_ns, std::int64_t cpu_ns, std::int64_t queued_ns) {
  const std::int64_t stretch_ns = now_ns - left_ns_;
  if (is_in_loop_ && is_pause(cpu_ns)) {
    sums_.totals.useful_ns -= stretch_ns;
    sums_.totals.mpi_ns[index_of(Kind::wait)] += stretch_ns;
    const std::int64_t used_ns = used_since_poll_ns(cpu_ns);
    if (used_ns >= tuning::kPollGapCpu_ns) excused_ns_ += used_ns;
  } else {
    add_long(stretch_ns, shares(now_ns, cpu_ns, queued_ns, sums_.totals.useful_ns - stretch_ns));
    begin_wait(now_ns);
  }
  keep_read(now_ns, cpu_ns, queued_ns);
  read_pause_ns_ = tuning::kLongStretch_ns;
}

void Recorder::read_cpu_at_exit(std::int64_t now_ns, std::int64_t cpu_ns, std::int64_t queued_ns) {
  keep_read(now_ns, cpu_ns, queued_ns);
  read_pause_ns_ = std::min(2 * read_pause_ns_, tuning::kMaxReadPause_ns);
}

bool Recorder::collective(std::uint64_t token, bool synchronises) {
  return finder_.add(token, synchronises) && series(Cuts::collectives).is_due();
}

Phase Recorder::cut(Cuts cuts, std::int64_t now_ns, const Machinery& machinery,
                    std::uint64_t label) {
  return series(cuts).cut(now_ns, sums_, machinery, label);
}

std::vector<Phase> Recorder::cut_slices(std::int64_t now_ns, std::int64_t cpu_ns,
                                        const Machinery& machinery, bool is_poll) {
  Series& slices = series(Cuts::slices);
  const Machinery before = slices.machinery();
  const std::int64_t begin_ns = slices.begin_ns();
  const Shares shares = this->shares(now_ns, cpu_ns, machinery.queued_ns, sums_.totals.useful_ns);
  const bool is_long = is_long_until(now_ns);
  std::vector<Phase> ended;
  if (is_poll && was_poll_empty_ && is_long && is_pause(cpu_ns)) return ended;
  was_poll_empty_ = false;  // if the program polled in a loop, it has computed since the last poll
  for (; slice_is_over(now_ns); slice_end_ns_ += slice_ns_) {
    const std::int64_t part_ns = std::max<std::int64_t>(0, slice_end_ns_ - left_ns_);
    sums_.totals.useful_ns += part_ns;
    left_ns_ += part_ns;
    if (is_long) add_long(part_ns, shares);
    if (!slices.is_due()) continue;
    // The kernel's measurements are read only now, and are divided among the slices in proportion
    // to time.
    const double part = 1.0 * (slice_end_ns_ - begin_ns) / (now_ns - begin_ns);
    ended.push_back(slices.cut(slice_end_ns_, sums_, between(before, machinery, part)));
  }
  const auto left_of = [&](double share) {
    return static_cast<std::int64_t>((now_ns - left_ns_) * share);
  };
  if (is_long)
    keep_read(left_ns_, cpu_ns - left_of(shares.on_cpu),
              machinery.queued_ns - left_of(shares.queued));
  return ended;
}

}  // namespace poise::profile
