// SPDX-License-Identifier: BSD-3-Clause
// Writes the latency and bandwidth factors measured on this host in hwloc's XML format, so that
// hwloc's tools show them.
#pragma once

#include <string>

#include "poise/machine/machine.h"

namespace poise {

/// Names of the matrices of distances between NUMA nodes. Values are factors times kHwlocUnit,
/// because hwloc stores whole numbers; the diagonal is kHwlocUnit.
inline constexpr const char* kHwlocLatency = "PoiseLatency";
inline constexpr const char* kHwlocBandwidth = "PoiseBandwidth";
inline constexpr double kHwlocUnit = 1e6;

/// hwloc's XML of this host with matrices of the latency and bandwidth factors of `machine`, whose
/// domains must be those of the host (discover_machine()). A row belongs to the NUMA node of the
/// core that reads, a column to the NUMA node of the memory. The bandwidth matrix holds kHwlocUnit
/// / factor, because bandwidth decreases with the factor. If there is one domain, there are no
/// matrices. Throws Error if hwloc cannot read the host or write its topology.
std::string hwloc_xml_of_host(const Machine& machine);

}  // namespace poise
