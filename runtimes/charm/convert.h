// SPDX-License-Identifier: BSD-3-Clause
// Converts Charm++'s rows to a Workload and a Placement, and a Placement back to PEs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtimes/balance/run_strategy.h"
#include "runtimes/charm/statistics.h"

namespace poise::charm {

/// The PE of each place, and the place of each PE.
struct PeMap {
  std::vector<std::uint32_t> pe_of_place;
  std::vector<PlaceId> place_of_pe;  // kNoPlace: unavailable
};
inline constexpr PlaceId kNoPlace = ~PlaceId{0};

/// A message to an object that has no row in the statistics. The object may be on a PE that has no
/// row either.
struct OutsideMessage {
  ObjectName to;
  std::int32_t last_known_pe = -1;  // PE of the receiver, in Charm++'s numbering
  TaskId from = 0;                  // sender: a task, or number of objects + index of a PE's row
};

/// Two tasks between which a message made a detour: it was sent to a PE that did not have the
/// receiver.
struct Detour {
  TaskId from, to;
};

/// Statistics converted to tasks. First come the objects, in order of their names. Then comes one
/// task for each PE that sent messages itself; it has no load and is pinned to that PE. The order
/// of the objects in the statistics does not matter: the same phase always gives the same workload.
struct Converted {
  balance::MeasuredPhase phase;
  /// Messages to objects without a row; listed only if statistics.has_all_pes is false.
  std::vector<OutsideMessage> outside;
  /// Empty if Charm++'s numbers of the PEs are unknown.
  std::vector<Detour> detours;
  /// For each task that is an object: the index of its row. These tasks come before all others.
  std::vector<std::uint32_t> row_of_task;
};

enum class Messages : std::uint8_t { convert, leave_out };

/// Converts statistics to tasks. Loads are seconds at speed 1: measured seconds times
/// `speed_of_place`. Messages to or from unknown objects are dropped. Every member of a multicast
/// receives the whole message. An object on an unavailable PE is assigned to an available one.
/// Throws Error if rows contradict each other: two objects with the same name, a PE that does not
/// exist, an invalid time. Calls statistics.more_messages.visit_all() at most once.
Converted converted(const Statistics& statistics, const PeMap& pe_map,
                    std::span<const double> speed_of_place, Messages messages);

/// Returns the new PE of each object, in the order of statistics.objects. Objects that must stay
/// keep their PE, even if it is unavailable.
std::vector<std::int32_t> pes_of(const Placement& placement,
                                 const std::vector<std::uint32_t>& row_of_task,
                                 const Statistics& statistics, const PeMap& pe_map);

}  // namespace poise::charm
