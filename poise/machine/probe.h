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
/// cache (64 MiB to 1 GiB), touched first by a core of its domain, as lat_mem_rd of LMBench does.
/// Core to core: a cache line is written in turns. Bandwidth: STREAM's triad.
Probes live_probes(const Machine& machine);

/// Bytes of the buffer of a latency probe on a machine with these caches and memories.
std::size_t probe_buffer_bytes(const Facts& facts);

}  // namespace poise
