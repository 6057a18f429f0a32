// SPDX-License-Identifier: BSD-3-Clause
// The balancer's reports as texts: summary, JSON, timeline and live display.
#pragma once

#include <string>

#include "runtimes/juggle/tally.h"

namespace poise::juggle {

/// A summary in a few lines: what was balanced, each thread's share of time against its fair share,
/// and the cost of balancing.
std::string summary_text(const Tally& tally);

/// The content of the summary as a JSON document.
std::string summary_json(const Tally& tally);

/// A timeline for Perfetto and Chrome that shows when each thread was on which cpu: a group of rows
/// per cpu, a row per thread. Needs Options::wants_stays.
std::string trace_json(const Tally& tally);

/// One line per thread, at most `max_threads` lines: share of time, lag, cpu, migrations.
std::string live_text(const Tally& tally, std::size_t max_threads);

/// What slows the threads down and the cure, one line per cause, the most important one first.
std::string diagnosis_text(const Tally& tally);

/// The first line of it, if it is something that only the user can change; otherwise empty.
std::string advice_text(const Tally& tally);

/// One line for outputs that are not terminals: number of threads, smallest and largest share of
/// time.
std::string live_line(const Tally& tally);

/// The share of time that each thread could have had: cpus / threads, at most 1, averaged over the
/// time in which threads took part.
double fair_share(const Tally& tally);

/// Predicted duration of the work that the threads did: with all threads equally fast (n/m), and
/// with every thread on its first cpu, waiting for the slowest (ceil(n/m)). Spinning counts as
/// work. 0 if no thread took part.
struct Prediction {
  double balanced_s = 0, static_s = 0;
};
Prediction prediction(const Tally& tally);

}  // namespace poise::juggle
