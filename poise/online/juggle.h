// SPDX-License-Identifier: BSD-3-Clause
// Juggle's decision: which pairs of threads exchange their places, given the progress per thread.
// Hofmeyr et al., "Juggle: Proactive Load Balancing on Multicore Computers", HPDC 2011, section 2.
// Juggle is not in the table of strategies, because it balances the progress of threads that share
// places, not the loads of tasks. Both the thread balancer and the simulator make this decision.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/online/juggle_tuning.h"

namespace poise {

using ThreadId = std::uint32_t;

/// Two threads that exchange their places.
struct Swap {
  ThreadId behind = 0, ahead = 0;
  friend bool operator==(const Swap&, const Swap&) = default;
};

/// Input of a decision at a balancing point. Places without threads are ignored.
struct JuggleView {
  std::span<const double> progress_s;  // progress of each thread in seconds since it started
  std::span<const PlaceId> place_of;   // per thread
  std::span<const double> speed;       // measured_speed() of each place, in any common unit
  /// Domain of each place, numbered from 0. If it is given, no swap crosses domains.
  std::span<const DomainId> domain_of = {};
};

/// Exchanges threads that are behind on slow places with threads that are ahead on fast places.
///
/// A thread is behind if its progress is below the average plus margin_s (xi in the Juggle paper).
/// A place is fast if its speed is above the average by more than a rounding error, otherwise slow.
/// The k-th candidate of the slow places is exchanged with the k-th candidate of the fast places.
/// Slow places, ordered by ascending average progress, give one candidate each in turn, the least
/// advanced thread first. Fast places, ordered by descending average progress, give their
/// candidates in the same way, the most advanced thread first. The number of threads per place does
/// not change, not even if a measurement is wrong. With domains, all averages are per domain. O(n
/// log n + m log m) for n threads on m places.
std::vector<Swap> juggle_swaps(const JuggleView& view, double margin_s);

/// Speed of a place over a period of real_s seconds, in seconds of progress per period (section 2.1
/// of the Juggle paper): the average progress of its threads, gained_s / num_threads, divided by
/// the fraction of the period in which the place was busy, 1 - idle_s / real_s. The result is at
/// most real_s. If the threads made no progress, the formula cannot be used, and the result is
/// idle_s, the time that a thread could have used. If the place has no threads, the result is 0.
double measured_speed(double gained_s, std::uint32_t num_threads, double real_s, double idle_s);

/// Replaces each speed by the average if the two differ by less than the fraction `tolerance`, so
/// that noise does not make a place count as fast.
void remove_noise(std::span<double> speed, double tolerance);

/// A thread that moves to another place without an exchange.
struct Move {
  ThreadId thread = 0;
  PlaceId to = 0;
  friend bool operator==(const Move&, const Move&) = default;
};

/// Reactive balancing (section 3.3 of the Juggle paper): blocked threads leave their share of a
/// place to its other threads. In each domain, repeatedly moves the least advanced ready thread
/// from the place with the most ready threads to the place with the fewest, until these numbers
/// differ by at most one. Among places with equally few ready threads, prefers the one with the
/// fewest threads in all, so that blocked threads are spread as well.
std::vector<Move> even_out(const JuggleView& view, const std::vector<bool>& is_ready);

/// What a thread reports about its waits: whether it is in a call that waits, and how long ago it
/// last yielded its cpu to other threads, as threads do while they poll.
struct WaitReport {
  bool is_inside = false;
  double since_yield_s = 1e9;
};

/// True if the thread is in a call that waits, or yielded its cpu recently, as threads do while
/// they poll. If the thread shares its place, a longer time counts as recent, because after each of
/// its yields another thread runs for a whole time slice.
bool is_waiting(const WaitReport& report, bool shares_place, const JuggleTuning& tuning = {});

/// Initial places of the threads (section 2.4 of the Juggle paper). The numbers of threads on any
/// two places differ by at most one. If possible, the numbers of threads in any two domains also
/// differ by at most one: for example, 8 threads on a domain of 4 places and one of 3 places are
/// split into 4 and 4. `domain_of` lists the domain of each place, numbered from 0. Successive
/// threads go to successive places, round-robin.
std::vector<PlaceId> deal_threads(std::uint32_t num_threads, std::span<const DomainId> domain_of);

/// The number of threads per place in the most crowded domain, if deal_threads() places the
/// threads. If threads stay in their domains, no phase can be shorter than this number times the
/// time for which one thread computes in the phase.
double threads_per_place(std::uint32_t num_threads, std::span<const DomainId> domain_of);

}  // namespace poise
