// SPDX-License-Identifier: BSD-3-Clause
// The balancer's reports as texts: summary, JSON, timeline and live display.
#pragma once

#include <string>

#include "runtimes/juggle/tally.h"

namespace poise::juggle {

/// Returns a summary in a few lines: what was balanced, the smallest and the largest share of the
/// time for which a thread ran, the fair share, and the cost of balancing.
std::string summary_text(const Tally& tally);

/// Returns the content of the summary as a JSON document.
std::string summary_json(const Tally& tally);

/// Returns a timeline for the viewers Perfetto and Chrome that shows when each thread was on which
/// cpu. Each cpu has a group of rows, with a row for each thread. The tally must have been recorded
/// with BalancerOptions::wants_stays.
std::string trace_json(const Tally& tally);

/// Returns one line per thread, for at most `max_threads` threads: its share of a cpu, how far
/// it lags behind the average of the threads, its cpu, and its number of migrations.
std::string live_text(const Tally& tally, std::size_t max_threads);

/// Explains what slows the threads down and what would help, in one line per cause, the most
/// important cause first.
std::string diagnosis_text(const Tally& tally);

/// Returns the most important cause in diagnosis_text() if only the user can remove this cause, and
/// otherwise an empty text.
std::string advice_text(const Tally& tally);

/// Returns the present state in one line, for outputs that are not terminals: the number of
/// threads, the smallest and the largest cpu share of any thread, the number of migrations, and
/// what slows the threads down.
std::string live_line(const Tally& tally);

/// The fraction of the time for which each thread could have run if all got equal shares: the
/// number of cpus, or of those that a quota pays for, divided by the number of threads, but at most
/// 1. If threads stay in their memory domains, both numbers are those of the most crowded domain.
/// The fraction is averaged over the time in which threads were balanced.
double fair_share(const Tally& tally);

/// The predicted duration of the work that n threads did on m cpus. balanced_s: all threads run
/// equally fast, so the duration is n/m times the average run time of a thread. static_s: every
/// thread stays on its first cpu and all wait for the slowest, so the duration is ceil(n/m) times
/// this average. If threads stay in their memory domains, n and m are those of the most crowded
/// domain. With a quota, both durations are at least the run time of all threads together, divided
/// by the number of cpus that the quota pays for. Spinning counts as work. Both are 0 if no thread
/// was balanced.
struct Prediction {
  double balanced_s = 0, static_s = 0;
};
Prediction prediction(const Tally& tally);

}  // namespace poise::juggle
