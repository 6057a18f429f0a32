// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/samples.h"

#include <algorithm>

#include "runtimes/profile/hash.h"
#include "runtimes/profile/tuning.h"

namespace poise::profile {

bool Samples::is_kept(std::uint64_t sequence) const {
  // Strides are powers of two, so the calls kept with a longer stride are among those kept with a
  // shorter one.
  return (mixed(sequence) & (stride_ - 1)) == 0;
}

void Samples::keep(std::int64_t entered_ns, std::int64_t took_ns, Part part) {
  kept_.push_back({sequence_ - 1, entered_ns, took_ns, part});
  if (kept_.size() < tuning::kMaxSamples) return;
  stride_ *= 2;
  std::erase_if(kept_, [&](const Sample& sample) { return !is_kept(sample.sequence); });
}

std::int64_t waited_ns(const Sample& sample, std::int64_t last_ns) {
  if (!sample.part.waits) return 0;
  return std::clamp<std::int64_t>(last_ns - sample.entered_ns, 0, sample.took_ns);
}

}  // namespace poise::profile
