// SPDX-License-Identifier: BSD-3-Clause
// The measurements of this rank in one phase.
#pragma once

#include "runtimes/objects/local_objects.h"
#include "runtimes/objects/measurements.h"
#include "runtimes/objects/meter.h"
#include "runtimes/objects/object_guard.h"

namespace poise::objects {

/// Returns the measurements of this rank's objects. `recorded` holds the CPU time of each object,
/// and the messages between objects.
Measurements own_measurements(const LocalObjects& objects, const ObjectDirectory& directory,
                              const Meter& meter, Workload recorded, const ObjectGuard& guard);

}  // namespace poise::objects
