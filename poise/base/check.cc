// SPDX-License-Identifier: BSD-3-Clause

#include "poise/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace poise {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "poise: internal error: %s does not hold at %s:%d\n", condition, file, line);
  std::abort();
}

}  // namespace poise
