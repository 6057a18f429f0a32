// In CHAMELEON, this function records the CPU affinity before OpenMP pins threads. Poise does not
// pin threads, so here the function does nothing.
//
// The interface is that of CHAMELEON:
// Copyright (c) 2019, chameleon-hpc: Ludwig-Maximilians-University Munich (LMU),
// RWTH Aachen University, Technical University of Munich (TUM). All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause
// LICENSES/CHAMELEON.txt has the conditions and the disclaimer, which must be kept with this file.
#pragma once

#include <chameleon.h>

#ifdef __GNUC__
__attribute__((unused))
#endif
static void
chameleon_pre_init(void) {
}
