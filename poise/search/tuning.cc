// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/tuning.h"

#include "poise/base/check.h"

namespace poise {

Tuning tuning_from(std::span<const double> values) {
  if (values.empty()) return kTuning;
  POISE_CHECK(values.size() == kTuningKnobs.size());
  const double* value = values.data();
  Tuning tuning;
#define POISE_SET(type, name, initial, least, greatest, unit, why) \
  tuning.name = static_cast<type>(*value++);
  POISE_TUNING(POISE_SET)
#undef POISE_SET
  return tuning;
}

}  // namespace poise
