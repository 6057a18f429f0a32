// SPDX-License-Identifier: BSD-3-Clause
// Device numbers: 0 represents all ranks, 1 the host.
#pragma once

#include <cstdint>

namespace poise::openmp_target {

/// True if a region with this number in its `device` clause may run on any rank. -1: the region has
/// no such clause.
bool is_for_ranks(std::int64_t device, bool nowait);

}  // namespace poise::openmp_target
