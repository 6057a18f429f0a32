// SPDX-License-Identifier: BSD-3-Clause
// What to measure on a node, and how to compute factors from the results. The probes are arguments,
// so tests can pass simulated ones; the probes that really measure are in probe.h.
//
// A latency factor is a latency divided by the latency of one local memory read, like the NUCO
// factor (Pilla et al., ICPP 2012, section III-A). Between domains, the latency is the time to read
// the sender's memory. Inside a domain, the latency is the time of a cache line from core to core;
// the factor is then below 1 for cores that share a cache. A bandwidth factor is the time per byte,
// divided by the time per byte of local memory.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "poise/machine/machine.h"

namespace poise {

/// Each probe takes about `seconds` and returns one number, or nothing if it could not measure, for
/// example because other work keeps a core busy all the time.
struct Probes {
  /// Nanoseconds per dependent read by `reader` of memory in the domain of `owner`.
  std::function<std::optional<double>(PlaceId owner, PlaceId reader, double seconds)> read_ns;
  /// Nanoseconds for a cache line to get from one place to the other.
  std::function<std::optional<double>(PlaceId a, PlaceId b, double seconds)> one_way_ns;
  /// Gigabytes per second that all places of domain `readers` read together from the memory of
  /// domain `owner`.
  std::function<std::optional<double>(DomainId owner, DomainId readers, double seconds)>
      gigabytes_per_s;
};

struct MeasureOptions {
  double seconds = 20;  // approximate total time of all probes
  /// Called before each probe with the fraction that is done (0 to 1) and the name of the next
  /// probe.
  std::function<void(double done, const std::string& next)> progress;
};

/// Measures all pairs of domains and, for each level, a few pairs of places whose finest common
/// group is of that level, several times each. `machine` must be one node. Throws
/// std::runtime_error if a pair of domains cannot be measured.
Measurement measure_node(const Machine& machine, const Probes& probes,
                         const MeasureOptions& options);

/// Returns pairs of places that are in the same group of `level`, but in different groups of the
/// next finer level. If `level` is -1, that group is the whole machine. The pairs come from the
/// first, the middle and the last group in which there are such places, so there are at most three.
std::vector<std::pair<PlaceId, PlaceId>> sample_pairs(const Machine& machine, int level);

/// Returns the machine with measured factors and costs. At factor 1, a message costs the time of
/// one local memory read, and each byte adds the time to transfer it at a core's share of the
/// domain's bandwidth. These are costs of the hardware only, without those of the MPI library.
Machine with_measurement(const Machine& machine, Measurement measurement);

/// The latency to which all latency factors are relative: the median local read latency of the
/// domains. Throws Error if the measurement does not have a latency for each pair of domains, as
/// may happen in a file.
double local_latency_ns(const Machine& machine, const Measurement& measurement);

}  // namespace poise
