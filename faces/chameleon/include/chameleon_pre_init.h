// CHAMELEON recorded the affinity here before OpenMP pins threads. Poise pins no threads, so this
// does nothing.
#pragma once

#include <chameleon.h>

#ifdef __GNUC__
__attribute__((unused))
#endif
static void
chameleon_pre_init(void) {
}
