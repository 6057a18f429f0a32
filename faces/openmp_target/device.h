// SPDX-License-Identifier: BSD-3-Clause
// Device numbers: 0 stands for all ranks, 1 for the host.
#pragma once

#include <cstdint>

namespace poise::openmp_target {

/// True if a region with that `device` clause may run on any rank; -1: no clause.
bool is_for_ranks(std::int64_t device, bool nowait);

}  // namespace poise::openmp_target
