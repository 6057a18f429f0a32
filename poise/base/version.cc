// SPDX-License-Identifier: BSD-3-Clause

#include "poise/base/version.h"

namespace poise {

const char* version() { return POISE_VERSION; }
const char* built_with() { return POISE_BUILT_WITH; }

}  // namespace poise
