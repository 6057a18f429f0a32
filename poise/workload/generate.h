// SPDX-License-Identifier: BSD-3-Clause
// Synthetic workloads of several kinds of programs. The same seed gives the same bytes on every
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

/// One kind of workload: a row of the table of kinds.
struct Kind {
  std::string_view name, summary, source;
  std::string_view start;  // name of the initial placement (placement/initial.h)
  Workload (*make)(TaskId num_tasks, const Knobs&, std::uint64_t seed);
  std::span<const Knob> knobs;
};

/// All kinds of workload, the most useful first.
std::span<const Kind> kinds();

/// A kind of workload with the values of its knobs.
struct Recipe {
  const Kind* kind;
  Knobs knobs;
  /// The recipe as text that parse_recipe() reads, such as "stencil3d:hot=5".
  std::string text() const;
};

/// Reads KIND or KIND:KNOB=VALUE,... If a name is unknown, throws Error with the most similar name
/// and all known ones.
Recipe parse_recipe(std::string_view text);

/// The workloads of `num_phases` phases. Messages and positions are the same in all phases; loads
/// change as the knobs hot_speed, hot_growth and drift say, but their sum stays the same.
///
/// Every kind makes exactly num_tasks tasks, except leanmd, which makes the nearest number it can.
/// Throws Error if the knobs contradict each other or num_tasks is too small for the kind. O(tasks
/// + messages) per phase.
std::vector<Workload> generate(const Recipe& recipe, TaskId num_tasks, std::uint64_t seed,
                               std::uint32_t num_phases = 1);

}  // namespace poise
