// The probes themselves: short programs pinned to cores of this machine. What to probe and what the
// answers mean is in measure.h.
#pragma once

#include <cstddef>

#include "poise/machine/machine.h"
#include "poise/machine/measure.h"

namespace poise {

/// Probes of this machine, of which `machine` (kept by reference) is a description with the
/// operating system's numbers. They run on threads of their own: the caller's affinity and memory
/// policy stay. The probes throw std::runtime_error when a core may not be used.
///
/// Latency: a chase through a random cycle over the cache lines of a buffer four times the largest
/// cache (64 MiB to 1 GiB), as lat_mem_rd of LMBench does. Core to core: a cache line is written in
/// turns. Bandwidth: STREAM's triad over four times the last-level caches of all its cores (64 MiB
/// to 4 GiB). Buffers are bound to the memory of their domain where the kernel lets us, else only
/// touched first by a core of it.
Probes live_probes(const Machine& machine);

/// Bytes of the buffer of a latency probe on a machine with these caches and memories.
std::size_t latency_buffer_bytes(const Facts& facts);

/// Likewise of a bandwidth probe, with the machine's caches shared out over its domains.
std::size_t bandwidth_buffer_bytes(const Facts& facts, DomainId domains);

}  // namespace poise
