// SPDX-License-Identifier: BSD-3-Clause
// Models of loads that change from step to step, in addition to the phases of a trace.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "poise/base/knobs.h"

namespace poise {

/// One kind of load model: a row of the table of load models.
struct LoadModelKind {
  std::string_view name, summary;
  /// For each object, multiplies factors[object] (initially 1) by the model's factor for the load
  /// of this object at `step`.
  void (*apply)(const Knobs&, std::uint64_t step, std::uint64_t seed, std::span<double> factors);
  std::span<const Knob> knobs;
};

std::span<const LoadModelKind> load_model_kinds();

/// A load model with the values of its knobs. The factors by which it multiplies loads depend only
/// on the step, the seed and the object, so steps can be computed in any order.
struct LoadModel {
  const LoadModelKind* kind;
  Knobs knobs;

  /// Sets the factor of each object's load at a step.
  void set_factors(std::uint64_t step, std::uint64_t seed, std::span<double> factors) const;
  /// The model as text that parse_load_model() reads, such as "jump:at=20,factor=4".
  std::string text() const;
};

/// Reads MODEL or MODEL:KNOB=VALUE,... For an unknown name, throws Error with the known names.
LoadModel parse_load_model(std::string_view text);

}  // namespace poise
