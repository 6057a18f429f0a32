// Synthetic workloads: a table of kinds of programs. The same seed gives the same bytes on every
// platform.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "poise/base/knobs.h"
#include "poise/workload/workload.h"

namespace poise {

/// A row of the table of kinds.
struct Kind {
  std::string_view name, summary, source;
  std::string_view start;  // how its tasks lie at first, a name of placement/initial.h
  Workload (*make)(TaskId num_tasks, const Knobs&, std::uint64_t seed);
  std::span<const Knob> knobs;
};

/// Every kind, in the order in which users should meet them.
std::span<const Kind> kinds();

/// A kind with its knobs set.
struct Recipe {
  const Kind* kind;
  Knobs knobs;
  /// "stencil3d:hot=5": what parse_recipe reads back.
  std::string text() const;
};

/// Reads KIND or KIND:KNOB=VALUE,… Throws Error with the nearest name and the valid ones.
Recipe parse_recipe(std::string_view text);

/// The workloads of `num_phases` phases. Messages and positions stay; loads change from phase to
/// phase as hot_speed, hot_growth and drift say, but every phase has the total load of the first.
///
/// Every kind makes exactly num_tasks tasks, but leanmd the nearest number it can. Throws Error
/// when the knobs contradict each other or num_tasks is too small for the kind.
/// O(tasks + messages) per phase.
std::vector<Workload> generate(const Recipe& recipe, TaskId num_tasks, std::uint64_t seed,
                               std::uint32_t num_phases = 1);

}  // namespace poise
