// Juggle's decision: which threads exchange their places, from the progress each has made.
//
// Hofmeyr et al., "Juggle: Proactive Load Balancing on Multicore Computers", HPDC 2011, section 2.
// It is no row of the strategies' table: its problem is the progress of threads that share places,
// not the loads of tasks. It lives here because the thread balancer and the simulator both obey it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/machine/machine.h"

namespace poise {

using ThreadId = std::uint32_t;

/// Two threads that exchange their places.
struct Swap {
  ThreadId behind = 0, ahead = 0;
  friend bool operator==(const Swap&, const Swap&) = default;
};

/// What is known at a balancing point. Places without threads take no part.
struct JuggleView {
  std::span<const double> progress_s;        // per thread: since it started
  std::span<const PlaceId> place_of;         // per thread
  std::span<const double> speed;             // per place: measured_speed, in any common unit
  std::span<const DomainId> domain_of = {};  // per place, dense; given: no swap crosses domains
};

/// Brings threads that are behind to fast places in exchange for threads that are ahead.
///
/// A thread is behind when its progress is below the average plus margin_s (xi); a place is fast
/// when its speed is above the average. Places take turns, slow ones from the least average
/// progress, fast ones from the most; inside a place the least (most) advanced thread goes first.
/// The number of threads of each place stays, so a wrong measurement cannot unbalance. All averages
/// are of one domain when domains are given. O(n log n + m log m).
std::vector<Swap> juggle_swaps(const JuggleView& view, double margin_s);

/// The speed of a place in a period of real_s during which it was idle for idle_s and its threads
/// gained gained_s in all: what they gained on average, over the share of the time in which it was
/// busy (section 2.1), real_s at most. Where they gained nothing the formula has no value: it is
/// the idle time, which a thread could have had. 0 for a place without threads.
double measured_speed(double gained_s, std::uint32_t num_threads, double real_s, double idle_s);

/// Makes speeds that differ from their average by less than `tolerance` of it equal to it, so that
/// noise makes no place fast.
void remove_noise(std::span<double> speed, double tolerance);

/// A thread that goes to another place, alone.
struct Move {
  ThreadId thread = 0;
  PlaceId to = 0;
  friend bool operator==(const Move&, const Move&) = default;
};

/// Reactive balancing (section 3.1): threads that are blocked leave their places to the others. A
/// ready thread, least advanced first, goes from the place (of its domain) with most ready threads
/// to that with fewest, until none has two more than another.
std::vector<Move> even_out(const JuggleView& view, const std::vector<bool>& is_ready);

/// The place of each thread at the start: no place has two threads more than another, and no
/// domain either as far as that allows (section 2.4). So 8 threads on a domain of 4 places and one
/// of 3 are 4 and 4. `domain_of` is per place and dense; threads go to places in turn.
std::vector<PlaceId> deal_threads(std::uint32_t num_threads, std::span<const DomainId> domain_of);

}  // namespace poise
