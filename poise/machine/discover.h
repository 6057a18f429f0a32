// SPDX-License-Identifier: BSD-3-Clause
// Machines from hwloc: this host, an XML file, or a synthetic text. Only this file and
// hwloc_xml.h use hwloc.
//
// A place is a core. Place::os_index is the number of the first processing unit of the core that
// this process may use. Cores and processing units that are offline or outside the allowed set
// (cgroups) do not appear. A NUMA node whose memory is not allowed is not a domain: its cores
// belong to the nearest domain.
#pragma once

#include <string>
#include <string_view>

#include "poise/machine/machine.h"

namespace poise {

/// Discovers this host. NUMA factors come from the firmware (ACPI SLIT) if it reports them.
/// Throws Error if hwloc cannot read the host.
Machine discover_machine();

/// Reads hwloc's XML (versions 1 to 3). Throws Error naming `name` if the text is not a topology.
/// hwloc crashes on some damaged files, so it runs in a child process (sandbox.h).
Machine machine_from_hwloc_xml(std::string_view xml, const std::string& name);

/// Reads hwloc's synthetic text, such as "pack:2 [numa] l3:2 core:4 pu:2". Throws Error if the text
/// is invalid, has more than 16,384 processing units in total, or has a count above 512.
Machine machine_from_hwloc_synthetic(std::string_view text);

}  // namespace poise
