// The numbers of devices: 0 is the other ranks, 1 the host.
#pragma once

#include <cstdint>

namespace poise::openmp_target {

/// Whether a region with that `device` clause may be run by any rank; -1 is none.
bool is_for_ranks(std::int64_t device, bool nowait);

}  // namespace poise::openmp_target
