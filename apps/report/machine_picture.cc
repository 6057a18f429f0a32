// SPDX-License-Identifier: BSD-3-Clause
// Draws the machine as nested boxes.
#include <algorithm>
#include <fmt/core.h>

#include "apps/report/html.h"
#include "apps/report/pictures.h"

namespace poise::apps {

namespace {

constexpr double kPlace = 24, kGap = 5, kLabel = 17, kRoom = 560;
constexpr std::uint32_t kMaxPlaces = 16, kMaxBoxes = 4;

/// A drawn part of the machine: its SVG, which begins at (0, 0), and its size.
struct Box {
  std::string content;
  double width = 0, height = 0;
};

std::string moved(double x, double y, const std::string& content) {
  return fmt::format("<g transform=\"translate({:.6g} {:.6g})\">\n{}</g>\n", x, y, content);
}

/// Arranges boxes in rows of equally many boxes; the last row may have fewer. No row is wider than
/// `room`, unless a single box is.
Box arranged(const std::vector<Box>& boxes, double room) {
  Box all;
  double widest = 0;
  for (const Box& box : boxes) widest = std::max(widest, box.width);
  const std::size_t fit = std::max(1.0, (room + kGap) / (widest + kGap));
  const std::size_t rows = (boxes.size() + fit - 1) / fit;
  const std::size_t columns = (boxes.size() + rows - 1) / rows;
  double x = 0, y = 0, row_height = 0;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (i > 0 && i % columns == 0) {
      y += row_height + kGap;
      x = row_height = 0;
    }
    all.content += moved(x, y, boxes[i].content);
    x += boxes[i].width + kGap;
    row_height = std::max(row_height, boxes[i].height);
    all.width = std::max(all.width, x - kGap);
    all.height = y + row_height;
  }
  return all;
}

Box place_box(PlaceId place) {
  return {svg_box(0, 0, kPlace, kPlace, "place") +
              svg_text(kPlace / 2, kPlace / 2 + 4, "", std::to_string(place)),
          kPlace, kPlace};
}

class Drawing {
 public:
  explicit Drawing(const Machine& machine) : machine_(machine), levels_(machine.levels()) {}

  /// Draws the nodes, or the groups of another level of the machine, that contain the places
  /// [first, end). `room` is the width that the drawing should not exceed.
  Box groups(std::size_t level, PlaceId first, PlaceId end, double room) const {
    const bool is_last = level + 1 == levels_.size();
    const std::uint32_t begin = machine_.group_of(level, first);
    const std::uint32_t count = machine_.group_of(level, end - 1) - begin + 1;
    const std::uint32_t most = is_last ? kMaxPlaces : kMaxBoxes;
    const std::uint32_t shown = count <= most ? count : most - 1;
    std::vector<Box> boxes;
    for (std::uint32_t g = begin; g < begin + shown; ++g)
      boxes.push_back(is_last ? place_box(levels_[level].first_place[g]) : group(level, g, room));
    Box all = arranged(boxes, is_last ? std::min(room, kMaxPlaces / 2 * (kPlace + kGap)) : room);
    if (shown == count) return all;
    all.content +=
        svg_text(0, all.height + 14, "start faint",
                 fmt::format("… and {} more of level {}", count - shown, levels_[level].name));
    all.height += kLabel;
    all.width = std::max(all.width, 150.0);
    return all;
  }

 private:
  Box group(std::size_t level, std::uint32_t g, double room) const {
    const Level& at = levels_[level];
    const Box inside = groups(level + 1, at.first_place[g], at.first_place[g + 1], room - 2 * kGap);
    const std::string label = fmt::format("{} {}", at.name, g);
    const double width = std::max(inside.width, 7.0 * label.size()) + 2 * kGap;
    const double height = inside.height + kLabel + kGap;
    return {svg_box(0, 0, width, height, "group") + svg_text(kGap, 13, "start faint", label) +
                moved(kGap, kLabel, inside.content),
            width, height};
  }

  const Machine& machine_;
  std::span<const Level> levels_;
};

}  // namespace

std::string machine_picture(const Machine& machine) {
  const Box all = Drawing(machine).groups(0, 0, machine.num_places(), kRoom);
  const double width = std::max(all.width, kRoom) + 2;
  return svg(width, all.height + 2, "The machine: levels as nested boxes",
             moved(1, 1, all.content));
}

}  // namespace poise::apps
