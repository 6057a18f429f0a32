// SPDX-License-Identifier: BSD-3-Clause
// The probes that measure this machine: short programs pinned to its cores. measure.h decides what
// to measure and interprets the results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/machine/measure.h"

namespace poise {

/// Probes of this host. `machine` describes the host, including the operating system's IDs of cores
/// and domains, and is kept by reference. Probes run on their own threads, so the caller's affinity
/// and memory policy do not change. They throw std::runtime_error if this process is
/// not allowed to run on a core.
///
/// Latency: a pointer chase through a random cycle over the cache lines of a buffer of four times
/// the largest cache (64 MiB to 1 GiB), like lat_mem_rd of LMBench. Core to core: both sides write
/// the same cache line alternately. Bandwidth: STREAM's triad over four times the last-level caches
/// of all cores (64 MiB to 4 GiB). Buffers are bound to their domain's memory if the kernel allows
/// it; otherwise a core of the domain touches them first.
Probes live_probes(const Machine& machine);

/// Returns the size in bytes of the buffer for latency probes. It depends on the sizes of the
/// machine's caches and memories.
std::size_t latency_buffer_bytes(const Facts& facts);

/// Returns for each of `count` >= 1 elements its successor in a random cycle of all of them. The
/// cycle is the same in every call.
std::vector<std::uint32_t> random_cycle(std::uint32_t count);

/// Returns the size in bytes of the buffer of a bandwidth probe. Each domain is assumed to have an
/// equal share of the machine's caches.
std::size_t bandwidth_buffer_bytes(const Facts& facts, DomainId domains);

}  // namespace poise
