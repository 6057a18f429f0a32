// SPDX-License-Identifier: BSD-3-Clause
// All tuning constants of the diagnosis.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace poise::diagnosis_tuning {

/// An imbalance or a saving below this fraction of the run is not reported.
inline constexpr double kMinShare = 0.02;
/// If a run has fewer phases than this, the kind of its imbalance is not determined.
inline constexpr std::size_t kMinPhases = 4;
/// The kind of an imbalance is the first of these that holds. Persistent: one redistribution of the
/// work removes at least this fraction of the imbalance. Persistent in phases of the same name: one
/// redistribution that balances the work of each name separately removes this fraction. Drifting:
/// periodic redistribution removes this fraction.
inline constexpr double kPersistentShare = 0.6;
/// Numbers of phases after which the work could be distributed anew among the ranks. The best of
/// these intervals is chosen.
inline constexpr std::array<std::uint32_t, 6> kIntervals = {1, 2, 5, 10, 20, 50};
/// A shorter interval between redistributions is chosen only if it saves more than this multiple of
/// what a longer one saves, because a shorter interval means that work is moved more often.
inline constexpr double kWorthMore = 1.1;
/// Of all advice that saves at least this fraction of what the best advice saves, the advice with
/// the least effort is listed first.
inline constexpr double kGoodEnough = 0.55;
/// Ranks count as sharing or changing cores if they do so in at least this fraction of the phases.
inline constexpr double kMinSharing = 0.1;

/// The event engine simulates kMinSimulated to kMaxSimulated phases of a run. The more messages the
/// phases have, the fewer of them are simulated: kSimulatedMessages limits the number of pairs of
/// sender and receiver in all simulated phases together. The engine needs about a microsecond per
/// pair.
inline constexpr std::size_t kMinSimulated = 2, kMaxSimulated = 8, kSimulatedMessages = 100'000;
/// Lending is simulated twice, because the program's work may be hard or easy to divide: a rank
/// with the mean load has the first or the second of these numbers of tasks per iteration.
inline constexpr double kFewTasks = 4, kManyTasks = 32;
/// In the simulation of lending, longer iterations are shortened to this many seconds, and their
/// tasks in proportion. Otherwise the simulation would take a long time, because idle ranks ask for
/// tasks all the time. Messages take microseconds, so they remain a small part of the iteration.
inline constexpr double kMaxLent_s = 0.02;
/// Maximum number of tasks in all simulated phases together. Simulating a task takes about 10 us.
inline constexpr double kSimulatedTasks = 130'000;
/// The search for the factor on the costs of messages ends when the relative error of the time of
/// messages is at most kFactorPrecision, at the latest after kFactorRounds rounds. A round that
/// raises the factor multiplies it by at most kMaxFactorStep.
inline constexpr int kFactorRounds = 20;
inline constexpr double kMaxFactorStep = 100, kFactorPrecision = 0.01;
/// EngineOptions::precision divided by the time of messages. It is small compared with
/// kFactorPrecision. An exact simulation of an exchange between all ranks would take ten times as
/// long as one with this precision.
inline constexpr double kReplayPrecision = 0.002;
/// Seconds between two balancing points of simulated threads: the short period of `poise juggle`.
/// An iteration has at most kMaxJugglePoints balancing points, so in very long iterations the
/// points are farther apart.
inline constexpr double kJugglePeriod_s = 0.02, kMaxJugglePoints = 2000;

/// A map of ranks is tried only if the diagnosis promises that it saves at least this fraction of
/// the run time. The map is dropped as soon as the timed runs show that it saves less.
inline constexpr double kMinMapGain = 0.01;
/// Minimum and maximum number of pairs of runs in the trial of a map of ranks. In one run of a pair
/// the launcher places the ranks; in the other run the map does.
inline constexpr std::size_t kMinPairs = 3, kMaxPairs = 12;

static_assert(kMinPairs < kMaxPairs && kWorthMore > 1 && kMinSimulated <= kMaxSimulated);
static_assert(kMaxFactorStep > 1);

}  // namespace poise::diagnosis_tuning
