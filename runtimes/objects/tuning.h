// SPDX-License-Identifier: BSD-3-Clause
// Every tuned number of the objects runtime.
#pragma once

#include <cstddef>
#include <cstdint>

namespace poise::objects::tuning {

// --- Constants for deciding when and how to balance (when_to_balance.h, decide.h)

/// Number of steps after a decision until the first check whether balancing pays. Several steps are
/// needed, because a single slow step could look like an imbalance. The number was chosen, not
/// measured.
inline constexpr std::uint64_t kStepsToFirstCheck = 4;

/// Maximum number of steps between two checks. After each check that finds that balancing does not
/// pay, the number of steps until the next check doubles; this limit bounds how long a new
/// imbalance goes unnoticed. The number was chosen, not measured.
inline constexpr std::uint64_t kMaxStepsBetweenChecks = 64;

/// Above this number of places, Mode::automatic lets all ranks decide together if there are several
/// hosts, so that no rank solves the whole problem. The number was chosen, not measured.
inline constexpr std::uint32_t kMaxPlacesForRoot = 256;

/// Number of past phases whose loads are kept for strategies that predict.
inline constexpr std::size_t kMaxPastPhases = 64;

// --- Migration (migration.h)

/// Size in bytes of the messages that carry migrating objects: large enough to hide latency, small
/// enough that packing, transfer and unpacking overlap.
inline constexpr std::size_t kMigrationMessageBytes = std::size_t{4} << 20;

/// Maximum number of messages with migrating objects that a rank receives at the same time. Several
/// senders are needed to fill the links of a host; the limit bounds the memory for messages whose
/// objects are not unpacked yet. The number was chosen, not measured.
inline constexpr std::size_t kMaxArrivingMessages = 4;

// --- Constants for traces and timelines (run_files.h)

/// Number of steps per traced phase in a run that never balances.
inline constexpr std::uint64_t kStepsOfTracedPhase = 10;

/// Maximum number of spans that a rank keeps for the timeline (about 32 MB).
inline constexpr std::size_t kMaxTimelineSpans = 1'000'000;

// --- Constants for offloaded steps (step_offload.h)

/// Weight of the newest measurement in the moving average of an object's time per step. With a
/// weight of 0.5, the average needs two or three steps to follow a change of the load.
inline constexpr double kWeightOfNewestStep = 0.5;

/// The costs of steps are times divided by a unit of cost. This is the minimum of the unit in
/// seconds; it keeps costs finite if all steps are empty.
inline constexpr double kMinCostUnit_s = 1e-9;

/// Spare room for headers in the buffer of an offloaded object, in bytes:
/// kSpareBytes + (size of the object) / kSpareDivisor. Without spare room the buffer would have to
/// grow, which copies the object.
inline constexpr std::size_t kSpareBytes = 1024;
inline constexpr std::size_t kSpareDivisor = 8;

/// kMaxHeapAllocationBytes is the maximum size of an allocation that malloc serves from its heap;
/// kKeptHeapBytes is the maximum free memory that the heap keeps. With malloc's defaults, the pages
/// of objects that come and go in every step would return to the system each time, and zeroing new
/// pages takes longer than copying the objects.
inline constexpr int kMaxHeapAllocationBytes = 32 << 20;
inline constexpr int kKeptHeapBytes = 512 << 20;

static_assert(kStepsToFirstCheck <= kMaxStepsBetweenChecks);
static_assert(kWeightOfNewestStep > 0 && kWeightOfNewestStep <= 1);
static_assert(kMaxHeapAllocationBytes <= kKeptHeapBytes);

}  // namespace poise::objects::tuning
