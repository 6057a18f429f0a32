// SPDX-License-Identifier: BSD-3-Clause
// Models of loads that change from step to step, beyond what the phases of a trace say.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "poise/base/knobs.h"

namespace poise {

/// A row of the table of models.
struct LoadModelKind {
  std::string_view name, summary;
  /// Multiplies factors[object], all 1, by what the model says for a step.
  void (*apply)(const Knobs&, std::uint64_t step, std::uint64_t seed, std::span<double> factors);
  std::span<const Knob> knobs;
};

std::span<const LoadModelKind> load_model_kinds();

/// A model with the values of its knobs. Pure: the factors of a step depend on nothing else, so
/// steps can be asked for in any order.
struct LoadModel {
  const LoadModelKind* kind;
  Knobs knobs;

  /// Sets the factor of each object's load at a step.
  void set_factors(std::uint64_t step, std::uint64_t seed, std::span<double> factors) const;
  /// "jump:at=20,factor=4", in the form that parse_load_model() reads.
  std::string text() const;
};

/// Reads MODEL or MODEL:KNOB=VALUE,... Throws Error with the nearest name and the known ones.
LoadModel parse_load_model(std::string_view text);

}  // namespace poise
