// What places did over the time of a run, as pictures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "poise/trace/timeline.h"

namespace poise::apps {

/// A bar per place along an axis of time from 0 to `until_s`, coloured by activity. Where several
/// activities share a column of the picture, they share its height.
std::string timeline_picture(const Timeline& timeline, double until_s, std::string_view label);

/// For every place, its shares of the time since the last decision.
std::string shares_picture(const Timeline& timeline, std::string_view label);

/// All timelines under one heading. Those of one program (the title up to the comma) share an axis.
std::string timelines_html(const std::vector<Timeline>& timelines);

}  // namespace poise::apps
