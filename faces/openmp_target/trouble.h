// SPDX-License-Identifier: BSD-3-Clause
// Messages about target regions that cannot run on other ranks.
#pragma once

#include <string>

namespace poise::openmp_target {

/// OpenMP's OMP_TARGET_OFFLOAD. `kDisabled` lends no region; `kMandatory` ends the program at the
/// first region that cannot be lent.
enum class Offload { kUsual, kDisabled, kMandatory };
Offload offload();

/// Prints why some regions cannot be lent and where they run instead. Each reason is printed only
/// once, because a region may be executed a million times.
void say(const std::string& why, const char* instead);
/// Prints once that `what`, which is not a region, has no effect.
void note(const std::string& what);
/// Ends the job, as libomptarget does if results would be wrong.
[[noreturn]] void end(const std::string& why);

}  // namespace poise::openmp_target
