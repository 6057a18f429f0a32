// SPDX-License-Identifier: BSD-3-Clause
// The data of the curves in Juggle's evaluation, from theory and simulation only.
//
// Hofmeyr et al., "Juggle: Proactive Load Balancing on Multicore Computers", HPDC 2011, section 4.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace poise {

/// Columns of numbers. Speed-ups are relative to threads that stay where they start.
struct FigureData {
  std::vector<std::string> columns;
  std::vector<std::vector<double>> rows;
};

struct Figure {
  std::string_view name, title;  // "11", "8 threads on 7 places, many phases"
  FigureData (*compute)();
};

/// The figures that can be computed: 6 to 11, 16 and 17 of the paper, its table 1, the two jobs of
/// its section 6, one for phases of unequal length, and one about when to move threads. Figure 10
/// takes seconds to compute, the others less.
std::span<const Figure> figures();

/// Returns the figure of this name. If there is none, throws Error with the known names.
const Figure& figure_named(std::string_view name);

}  // namespace poise
