// SPDX-License-Identifier: BSD-3-Clause
// The code of a program's target regions: images inside the program, which are loaded like
// libraries.
#pragma once

#include "faces/openmp_target/abi.h"

namespace poise::openmp_target {

/// Loads the images with the program's target regions. An unusable image is reported on stderr
/// once; its regions then run on their own rank, as without offloading.
void load(const Binary& binary);

/// Records the features that the program requires by `#pragma omp requires`. If other ranks cannot
/// provide one of them, code_of() returns null for all regions.
void require(std::int64_t what);

/// Returns the code of the region that `mark` identifies, or null if there is none.
void* code_of(const void* mark);

}  // namespace poise::openmp_target
