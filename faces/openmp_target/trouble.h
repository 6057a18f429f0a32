// What a program is told of target regions that no other rank can run.
#pragma once

#include <string>

namespace poise::openmp_target {

/// OpenMP's OMP_TARGET_OFFLOAD: `kDisabled` lends no region, `kMandatory` ends the program at the
/// first that cannot be lent.
enum class Offload { kUsual, kDisabled, kMandatory };
Offload offload();

/// Says why some regions cannot be lent and where they run instead: each reason once, for a region
/// may be met a million times.
void say(const std::string& why, const char* instead);
/// Says, once, what else has no effect.
void note(const std::string& what);
/// Ends the job, as libomptarget does where going on would be wrong.
[[noreturn]] void end(const std::string& why);

}  // namespace poise::openmp_target
