// SPDX-License-Identifier: BSD-3-Clause
// The balancer's reports as texts: summary, JSON, timeline and live display.
#pragma once

#include <string>

#include "runtimes/juggle/tally.h"

namespace poise::juggle {

/// Returns a summary in a few lines: what was balanced, each thread's share of the time against its
/// fair share, and the cost of balancing.
std::string summary_text(const Tally& tally);

/// Returns the content of the summary as a JSON document.
std::string summary_json(const Tally& tally);

/// Returns a timeline for Perfetto and Chrome that shows when each thread was on which cpu, with a
/// group of rows per cpu and a row per thread. Needs Options::wants_stays.
std::string trace_json(const Tally& tally);

/// Returns one line per thread, for at most `max_threads` threads: share of the time, lag, cpu,
/// migrations.
std::string live_text(const Tally& tally, std::size_t max_threads);

/// Explains what slows the threads down and what would help, in one line per cause, the most
/// important cause first.
std::string diagnosis_text(const Tally& tally);

/// Returns the first line of the diagnosis if only the user can change its cause; otherwise an
/// empty text.
std::string advice_text(const Tally& tally);

/// Returns one line for outputs that are not terminals: number of threads, smallest and largest
/// share of the time.
std::string live_line(const Tally& tally);

/// The fraction of the time for which each thread could have run: cpus / threads, at most 1,
/// averaged over the time in which threads took part.
double fair_share(const Tally& tally);

/// How long the work that the threads did is predicted to take in two cases: if all n threads are
/// equally fast on m cpus (n/m), and if every thread stays on its first cpu and all wait for the
/// slowest (ceil(n/m)). Spinning counts as work. Both are 0 if no thread took part.
struct Prediction {
  double balanced_s = 0, static_s = 0;
};
Prediction prediction(const Tally& tally);

}  // namespace poise::juggle
