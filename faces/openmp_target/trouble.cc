// SPDX-License-Identifier: BSD-3-Clause

#include "faces/openmp_target/trouble.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <strings.h>

namespace poise::openmp_target {

Offload offload() {
  static const Offload asked = [] {
    const char* text = std::getenv("OMP_TARGET_OFFLOAD");
    if (text && ::strcasecmp(text, "disabled") == 0) return Offload::kDisabled;
    if (text && ::strcasecmp(text, "mandatory") == 0) return Offload::kMandatory;
    return Offload::kUsual;
  }();
  return asked;
}

void note(const std::string& what) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  if (said.insert(what).second) std::fprintf(stderr, "omp target: %s\n", what.c_str());
}

void say(const std::string& why, const char* instead) {
  if (offload() == Offload::kMandatory) end(why + "; OMP_TARGET_OFFLOAD=mandatory forbids that");
  note(why + "; such regions " + instead);
}

void end(const std::string& why) {
  std::fprintf(stderr, "omp target: %s\n", why.c_str());
  std::_Exit(1);
}

}  // namespace poise::openmp_target
