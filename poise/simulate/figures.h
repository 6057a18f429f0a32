// The data behind the curves of the paper's evaluation, from theory and simulation alone.
//
// Hofmeyr et al., "Juggle: Proactive Load Balancing on Multicore Computers", HPDC 2011, section 4.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace poise {

/// Columns of numbers; speed-ups are over threads that stay where they start.
struct FigureData {
  std::vector<std::string> columns;
  std::vector<std::vector<double>> rows;
};

struct Figure {
  std::string_view name, title;  // "11", "8 threads on 7 places, many phases"
  FigureData (*compute)();
};

/// Figures 6 to 11 and 16 and table 1. Figure 10 takes seconds, the others less.
std::span<const Figure> figures();

/// Throws Error with the names there are.
const Figure& figure_named(std::string_view name);

}  // namespace poise
