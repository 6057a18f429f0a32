// SPDX-License-Identifier: BSD-3-Clause
// All tuning constants of the distributed decision.
#pragma once

#include <cstdint>

namespace poise::distributed_tuning {

/// The weight of a task is its load divided by the average load of a place, plus this number
/// divided by the average number of tasks per place. Without the second term, all tasks without
/// load could end up in one cluster.
inline constexpr double kWeightOfTask = 0.1;

/// A merging step is too small if more than the fraction kMinShrink of the vertices remains.
/// Merging then ends if there were at most max_vertices vertices before the step. Otherwise the
/// limit on the weight of a cluster is multiplied by kHeavier, and merging continues.
inline constexpr double kMinShrink = 0.95, kHeavier = 1.5;

/// A child group has room for an arriving vertex if the group's load, including the vertex, is at
/// most this multiple of the average load of a child.
inline constexpr double kRoom = 1.02;

/// Estimate of what all messages cost, as a fraction of what they would cost if every message went
/// from one node to another. The fraction is below 1, because messages inside a place or a node are
/// cheaper.
inline constexpr double kShareOfMessages = 0.5;
/// If messages cost more than this fraction of the load, and also make an iteration longer than the
/// average load by this fraction, two V-cycles are tried. The first cycle has groups of few ranks:
/// the leader of a group then decides about more vertices per rank, which puts tasks that
/// communicate closer to each other. The second cycle has groups of many ranks and evens out loads.
inline constexpr double kMessagesWeigh = 0.02;
/// Minimum number of ranks in a group of the first of two V-cycles, which are tried if messages
/// cost much (see kMessagesWeigh).
inline constexpr std::uint32_t kMinWidth = 4;
/// The clusters of a rank are too heavy to balance well if the rank's tasks weigh more than this
/// multiple of what an average group of the maximum number of ranks weighs. A second cycle then
/// forms new clusters.
inline constexpr double kCoarse = 2;

static_assert(kMinShrink < 1 && kHeavier > 1 && kRoom > 1 && kCoarse > kRoom);

}  // namespace poise::distributed_tuning
