// From Charm++'s rows to the library's words and back.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtimes/balance/ask.h"
#include "runtimes/charm/statistics.h"

namespace poise::charm {

/// Which PE each place is, and the other way round.
struct Seating {
  std::vector<std::uint32_t> pe_of_place;
  std::vector<PlaceId> place_of_pe;  // kNoPlace: unavailable
};
inline constexpr PlaceId kNoPlace = ~PlaceId{0};

/// Rows as tasks: objects in order of name, then a task without load for each PE that sends, pinned
/// where it is. So the same phase is the same workload, in whatever order its rows came.
struct Converted {
  balance::Census census;
  std::vector<std::uint32_t> row_of_task;  // of the objects, which come first
};

enum class Messages : std::uint8_t { convert, leave_out };

/// Loads are seconds at speed 1: measured seconds times `speed_of_place`. Messages to or from
/// unknown objects are dropped; every member of a multicast receives all of it; an object on an
/// unavailable PE starts from one that is available. Throws Error where rows contradict each other:
/// two objects of one name, a PE that does not exist, a time that is none.
Converted converted(const Statistics& statistics, const Seating& seating,
                    std::span<const double> speed_of_place, Messages messages);

/// The PE of each object's row. What was to stay stays, wherever it was.
std::vector<std::int32_t> pes_of(const Placement& placement,
                                 const std::vector<std::uint32_t>& row_of_task,
                                 const Statistics& statistics, const Seating& seating);

}  // namespace poise::charm
