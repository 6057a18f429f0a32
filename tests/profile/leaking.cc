// SPDX-License-Identifier: BSD-3-Clause
// Plants a leak in the profile library: the linker redirects the library's calls of host_name() to
// this file (option --wrap). The leak lets sanitized_test.py show that it would find a leak of the
// library.
#include <cstdlib>

#include "runtimes/profile/machinery.h"

namespace poise::profile {

constexpr std::size_t kPlanted = 4321;  // leaked bytes; sanitized_test.py searches for them
void* volatile last;                    // volatile, so that the compiler keeps the allocation

std::string real_host_name() asm("__real__ZN5poise7profile9host_nameB5cxx11Ev");
std::string leaking_host_name() asm("__wrap__ZN5poise7profile9host_nameB5cxx11Ev");
std::string leaking_host_name() {
  last = std::malloc(kPlanted);
  last = nullptr;
  return real_host_name();
}

}  // namespace poise::profile
