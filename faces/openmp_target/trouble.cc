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

void say(const std::string& why, const char* instead) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  if (!said.insert(why).second) return;
  if (offload() != Offload::kMandatory) {
    std::fprintf(stderr, "omp target: %s; such regions %s\n", why.c_str(), instead);
    return;
  }
  std::fprintf(stderr, "omp target: %s; OMP_TARGET_OFFLOAD=mandatory forbids that\n", why.c_str());
  std::_Exit(1);
}

}  // namespace poise::openmp_target
