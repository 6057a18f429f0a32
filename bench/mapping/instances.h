// SPDX-License-Identifier: BSD-3-Clause
// The instances of mapping_bench: phases whose loads have drifted since they were balanced, on
// machines of several shapes, and phases of recorded traces.
#pragma once

#include <functional>
#include <string>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise::mapping {

struct Instance {
  std::string name, machine_text;
  bool weighs_messages = false;  // messages matter more than loads in this instance
  Machine machine;
  Workload workload;
  Placement current;
};

/// Selects instances, as the flags of mapping_bench do; an empty text selects the defaults.
struct Selection {
  bool quick = false;
  std::string seed = "0", recipes, machines, tasks;
  std::string only;    // select only instances whose name contains this text
  std::string traces;  // a folder whose subfolders contain traces, or empty
};

/// Calls `visit` with one instance after the other. Only one is in memory at a time.
void for_each_instance(const Selection& selection, const std::function<void(Instance&&)>& visit);

/// Writes a graph in METIS format, the current placement, and the machine. The weight of an edge is
/// the number of messages, not of bytes, because on the machines of the instances the cost of a
/// message does not depend on its size.
void write_instance(const std::string& folder, const Instance& instance);

}  // namespace poise::mapping
