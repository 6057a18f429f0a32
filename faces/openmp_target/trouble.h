// SPDX-License-Identifier: BSD-3-Clause
// Messages about target regions that cannot run on other ranks.
#pragma once

#include <string>

namespace poise::openmp_target {

/// OpenMP's OMP_TARGET_OFFLOAD. With `kDisabled` all regions run on their own rank; `kMandatory`
/// ends the program at the first region that other ranks cannot run.
enum class Offload { kUsual, kDisabled, kMandatory };
Offload offload();

/// Prints why other ranks cannot run some regions, and where these run instead. Each reason is
/// printed only once, because a region may be executed a million times.
void say(const std::string& why, const char* instead);
/// Prints the message `what`, which says that something has no effect or is not supported. Each
/// message is printed only once.
void note(const std::string& what);
/// Prints `why` and ends the job, for cases in which its results would be wrong. libomptarget ends
/// the program in these cases, too.
[[noreturn]] void end(const std::string& why);

}  // namespace poise::openmp_target
