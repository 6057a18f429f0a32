// What the balancer tells: a summary, JSON, a timeline, and a live picture. Texts only.
#pragma once

#include <string>

#include "runtimes/juggle/tally.h"

namespace poise::juggle {

/// A few lines for the end: what was balanced, what each thread got against its fair share, and
/// what it cost.
std::string summary_text(const Tally& tally);

/// The same as one JSON document.
std::string summary_json(const Tally& tally);

/// The stays of threads on cpus as a timeline for Perfetto and Chrome: a group of rows per cpu, a
/// row per thread. Needs Options::wants_stays.
std::string trace_json(const Tally& tally);

/// One line per thread, at most `max_threads`: share of the time, lag, cpu, migrations.
std::string live_text(const Tally& tally, std::size_t max_threads);

/// The same in one line, for what is no terminal: how many threads, and the least and the most
/// share.
std::string live_line(const Tally& tally);

/// The share of the time that each of the threads could have: cpus per thread, 1 at most; the mean
/// over the time in which threads took part.
double fair_share(const Tally& tally);

/// How long the threads would have taken for what they computed: all equally fast (n/m), and each
/// on the cpu where it starts, the slowest waited for (ceil(n/m)). Threads that spin seem to
/// compute. 0 when none took part.
struct Prediction {
  double balanced_s = 0, static_s = 0;
};
Prediction prediction(const Tally& tally);

}  // namespace poise::juggle
