// SPDX-License-Identifier: BSD-3-Clause
// All tuned numbers of the diagnosis.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace poise::diagnosis_tuning {

/// An imbalance or a saving below this fraction of the run is not reported.
inline constexpr double kMinShare = 0.02;
/// With fewer phases, the kind of imbalance is not determined.
inline constexpr std::size_t kMinPhases = 4;
/// The imbalance is called persistent if one distribution of the work removes at least this
/// fraction of it. Otherwise it is called drifting if periodic distribution removes as much.
inline constexpr double kPersistentShare = 0.6;
/// Numbers of phases after which the work could be distributed anew among the ranks. The best of
/// these intervals is chosen.
inline constexpr std::array<std::uint32_t, 6> kIntervals = {1, 2, 5, 10, 20, 50};
/// A shorter interval is chosen only if it saves more than this multiple of what a longer one
/// saves, because it moves work more often.
inline constexpr double kWorthMore = 1.1;
/// Of all advice that saves at least this fraction of what the best advice saves, the advice with
/// the least effort is listed first.
inline constexpr double kGoodEnough = 0.55;
/// Ranks count as sharing or changing cores if they do so in at least this fraction of the phases.
inline constexpr double kMinSharing = 0.1;

/// A map of ranks is tried if the diagnosis promises that it saves at least this fraction of the
/// run. The trial ends and drops the map once the runs show that it saves less.
inline constexpr double kMinMapGain = 0.01;
/// Minimum and maximum number of pairs of runs in the trial of a map of ranks. In one run of a pair
/// the launcher places the ranks, in the other the map does.
inline constexpr std::size_t kMinPairs = 3, kMaxPairs = 12;

static_assert(kMinPairs < kMaxPairs && kWorthMore > 1);

}  // namespace poise::diagnosis_tuning
