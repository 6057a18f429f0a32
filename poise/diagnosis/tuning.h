// SPDX-License-Identifier: BSD-3-Clause
// Every number of the diagnosis that was chosen rather than given.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace poise::diagnosis_tuning {

/// An imbalance, or a saving, of less than this share of the run is not worth a word.
inline constexpr double kMinShare = 0.02;
/// With fewer phases nothing is said of the kind of imbalance.
inline constexpr std::size_t kMinPhases = 4;
/// The imbalance is called persistent if one distribution of the work removes this share of it,
/// and drifting if one every few phases does.
inline constexpr double kPersistentShare = 0.6;
/// How many phases apart distributions are tried.
inline constexpr std::array<std::uint32_t, 6> kIntervals = {1, 2, 5, 10, 20, 50};
/// A further distribution of the work must save this much more than half as many do.
inline constexpr double kWorthMore = 1.1;
/// The advice that asks least of the user comes first among those that save at least this share of
/// the best one's.
inline constexpr double kGoodEnough = 0.55;
/// Ranks share or change cores, if they do in this share of the phases at least.
inline constexpr double kMinSharing = 0.1;

/// A map of ranks is tried if it promises this share of the run, and dropped if it cannot save as
/// much.
inline constexpr double kMinMapGain = 0.01;
/// Pairs of runs, one in own order and one mapped, after which the trial of a map may end, and
/// does.
inline constexpr std::size_t kMinPairs = 3, kMaxPairs = 12;

}  // namespace poise::diagnosis_tuning
