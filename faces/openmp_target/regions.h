// The code of a program's target regions: images inside the program, loaded as libraries are.
#pragma once

#include "faces/openmp_target/abi.h"

namespace poise::openmp_target {

/// Loads the program's images. What cannot be used is said on stderr once; its regions then stay
/// what they are without offloading: code of the program, run where it is met.
void load(const Binary& binary);

/// What `#pragma omp requires` asks for; where that is more than ranks can give, no region has
/// code.
void require(std::int64_t what);

/// The code of the region that `mark` stands for; null where there is none to use.
void* code_of(const void* mark);

}  // namespace poise::openmp_target
