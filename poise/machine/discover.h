// Machines from hwloc: this host, an XML file, or a synthetic text. The only user of hwloc.
//
// A place is a core; its os_index is the first processing unit this process may use on it. Cores
// and processing units that are offline or outside the allowed set (cgroups) do not appear. A NUMA
// node whose memory is not allowed is no domain: its cores belong to the nearest domain.
#pragma once

#include <string>
#include <string_view>

#include "poise/machine/machine.h"

namespace poise {

/// This host. Factors between domains come from the firmware (ACPI SLIT) where it has them.
/// Throws Error when hwloc cannot read the host.
Machine discover_machine();

/// The machine in hwloc's XML (versions 1 to 3). Throws Error naming `name` when the text is no
/// topology. hwloc crashes on some damaged files, so it reads them in a child process (sandbox.h).
Machine machine_from_hwloc_xml(std::string_view xml, const std::string& name);

/// hwloc's synthetic text, such as "pack:2 [numa] l3:2 core:4 pu:2" (at most 16,384 processing
/// units, 512 in each group of the level above). Throws Error.
Machine machine_from_hwloc_synthetic(std::string_view text);

}  // namespace poise
