// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/recorder.h"

#include <algorithm>

namespace poise::profile {

void Recorder::start(std::int64_t now_ns, std::int64_t cpu_ns, const Machinery& machinery,
                     std::int64_t slice_ns) {
  left_ns_ = cpu_read_ns_ = now_ns;
  cpu_ns_ = cpu_ns;
  slice_ns_ = slice_ns;
  slice_end_ns_ = now_ns + slice_ns;
  for (Series& series : series_) series.start(now_ns, sums_, machinery);
}

void Recorder::read_cpu_at_entry(std::int64_t now_ns, std::int64_t cpu_ns) {
  // The CPU clock was last read at the end of the previous MPI call, or earlier: it is not read at
  // short calls and short stretches between calls. CPU time is assumed to be spread evenly over the
  // whole time since the last reading.
  const std::int64_t wall_ns = now_ns - cpu_read_ns_, stretch_ns = now_ns - left_ns_;
  const double share = 1.0 * stretch_ns / std::max<std::int64_t>(1, wall_ns);
  sums_.totals.long_wall_ns += stretch_ns;
  sums_.totals.long_cpu_ns +=
      std::min(stretch_ns, static_cast<std::int64_t>((cpu_ns - cpu_ns_) * share));
  cpu_read_ns_ = now_ns;
  cpu_ns_ = cpu_ns;
}

void Recorder::read_cpu_at_exit(std::int64_t now_ns, std::int64_t cpu_ns) {
  cpu_read_ns_ = now_ns;
  cpu_ns_ = cpu_ns;
}

bool Recorder::collective(std::uint64_t token) {
  return finder_.add(token) && series(Cuts::collectives).is_due();
}

Phase Recorder::cut(Cuts cuts, std::int64_t now_ns, const Machinery& machinery,
                    std::uint64_t label) {
  return series(cuts).cut(now_ns, sums_, machinery, label);
}

std::vector<Phase> Recorder::cut_slices(std::int64_t now_ns, const Machinery& machinery) {
  Series& slices = series(Cuts::slices);
  std::vector<Phase> ended;
  for (; slice_is_over(now_ns); slice_end_ns_ += slice_ns_) {
    if (left_ns_ < slice_end_ns_) {
      sums_.totals.useful_ns += slice_end_ns_ - left_ns_;
      left_ns_ = slice_end_ns_;
    }
    if (slices.is_due()) ended.push_back(slices.cut(slice_end_ns_, sums_, machinery));
  }
  return ended;
}

}  // namespace poise::profile
