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
/// Intervals between distributions of the work that are tried, in phases.
inline constexpr std::array<std::uint32_t, 6> kIntervals = {1, 2, 5, 10, 20, 50};
/// A shorter interval is chosen only if it saves more by this factor, because it moves work more
/// often.
inline constexpr double kWorthMore = 1.1;
/// The advice with the least effort comes first among all that save at least this fraction of the
/// best one's saving.
inline constexpr double kGoodEnough = 0.55;
/// Ranks count as sharing or changing cores if they do so in at least this fraction of the phases.
inline constexpr double kMinSharing = 0.1;

/// A map of ranks is tried if it promises to save this fraction of the run, and dropped if it
/// cannot save it.
inline constexpr double kMinMapGain = 0.01;
/// Minimum and maximum number of pairs of runs (one in the launcher's order, one mapped) in the
/// trial of a map.
inline constexpr std::size_t kMinPairs = 3, kMaxPairs = 12;

static_assert(kMinPairs < kMaxPairs && kWorthMore > 1);

}  // namespace poise::diagnosis_tuning
