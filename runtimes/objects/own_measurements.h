// SPDX-License-Identifier: BSD-3-Clause
// The measurements of this rank in one phase.
#pragma once

#include "runtimes/objects/local_objects.h"
#include "runtimes/objects/measurements.h"
#include "runtimes/objects/meter.h"
#include "runtimes/objects/object_guard.h"

#include "poise/workload/recorder.h"

namespace poise::objects {

/// `recorded` holds the CPU times of the objects, and the messages that they sent. `first_place` is
/// the first place of this rank.
Measurements own_measurements(const LocalObjects& objects, PlaceId first_place, const Meter& meter,
                              Recording recorded, const ObjectGuard& guard);

}  // namespace poise::objects
