// Was needed to record the affinity before OpenMP pins threads; Poise pins none, so nothing is left
// to do, from C as from C++.
#pragma once

#include <chameleon.h>

#ifdef __GNUC__
__attribute__((unused))
#endif
static void
chameleon_pre_init(void) {
}
