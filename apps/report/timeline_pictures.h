// SPDX-License-Identifier: BSD-3-Clause
// Pictures of what places did during a run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "poise/trace/timeline.h"

namespace poise::apps {

/// Draws a bar per place along a time axis from 0 to `until_s`, coloured by activity. If several
/// activities fall into one pixel column, they divide its height in proportion to their times.
std::string timeline_picture(const Timeline& timeline, double until_s, std::string_view label);

/// Draws, for every place, the fraction of time that it spent in each activity after the last
/// decision of the timeline or, without a decision, after the start of the first span. If there are
/// more than 128 places, each bar shows the mean of consecutive places, with a tick at the busiest.
std::string shares_picture(const Timeline& timeline, std::string_view label);

/// Draws all timelines under one heading. The title of a timeline is the name of its program, or
/// begins with this name and a comma. Timelines of the same program share a time axis. `origin`
/// says where the timelines come from.
std::string timelines_html(const std::vector<Timeline>& timelines,
                           std::string_view origin = "Measured in real runs");

/// Returns the page of `poise timeline`, for at least one timeline. `data` is a JSON document that
/// readers can save.
std::string timelines_page(const std::vector<Timeline>& timelines, std::string_view data);

}  // namespace poise::apps
