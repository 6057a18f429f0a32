// SPDX-License-Identifier: BSD-3-Clause

#include "faces/chameleon/settings.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>

#include "poise/base/error.h"
#include "poise/base/text.h"

namespace poise::chameleon {

namespace {

// What happens if the value of a variable exceeds the maximum of its setting. as_the_maximum: the
// maximum is used instead. never: the threshold for lending counts as never reached, so no task
// runs on another rank.
enum class Beyond { as_the_maximum, never };

struct Threshold {
  const char* variable;
  const char* setting;
  double min, max;
  Beyond beyond;
};

constexpr Threshold kThresholds[] = {
    {"MIN_LOCAL_TASKS_IN_QUEUE_BEFORE_MIGRATION", "min_local", 0, 1e9, Beyond::never},
    {"MIN_ABS_LOAD_IMBALANCE_BEFORE_MIGRATION", "min_absolute", 0, 1e18, Beyond::never},
    {"MIN_REL_LOAD_IMBALANCE_BEFORE_MIGRATION", "min_relative", 0, 1, Beyond::never},
    {"PERCENTAGE_DIFF_TASKS_TO_MIGRATE", "share", 0, 1, Beyond::as_the_maximum},
    {"MAX_TASKS_PER_RANK_TO_MIGRATE_AT_ONCE", "max_tasks", 1, 1e9, Beyond::as_the_maximum},
};

}  // namespace

std::string settings_of(const std::function<const char*(const char*)>& variable) {
  std::string settings;
  bool never = false;
  for (const Threshold& threshold : kThresholds) {
    const char* text = variable(threshold.variable);
    if (!text) continue;
    const auto value = parse_number(text);
    if (!value)
      fail("{}={} is not a number; give 0 or a positive number", threshold.variable, text);
    if (*value < 0)
      fail("{}={} is negative; give 0 or a positive number", threshold.variable, text);
    never = never || *value < threshold.min ||
            (*value > threshold.max && threshold.beyond == Beyond::never);
    settings += fmt::format(",{}={}", threshold.setting, std::min(*value, threshold.max));
  }
  if (never) return "policy=none";
  return settings.empty() ? "" : "policy=paired" + settings;
}

}  // namespace poise::chameleon
