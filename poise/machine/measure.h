// What to probe on a node, and the factors that the answers make. Pure: the probes come in, so
// tests bring their own world. What touches the real one is in probe.h.
//
// All latency factors are relative to one local memory read, as the NUCO factor is (Pilla et al.,
// section III-A): between domains, the latency of reading the sender's memory over that of one's
// own; inside a domain, the time a cache line takes from core to core over it (so below 1 where
// cores share a cache). Bandwidth factors are seconds per byte over the local ones.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "poise/machine/machine.h"

namespace poise {

/// Each takes about `seconds` and gives one figure, or nothing where none could be had (a core that
/// other work keeps busy all the time).
struct Probes {
  /// Nanoseconds per dependent read by `reader` of memory that belongs to the domain of `owner`.
  std::function<std::optional<double>(PlaceId owner, PlaceId reader, double seconds)> read_ns;
  /// Nanoseconds that a cache line takes from one place to the other.
  std::function<std::optional<double>(PlaceId a, PlaceId b, double seconds)> one_way_ns;
  /// Gigabytes per second of all places of `readers` together on the memory of `owner`.
  std::function<std::optional<double>(DomainId owner, DomainId readers, double seconds)>
      gigabytes_per_s;
};

struct MeasureOptions {
  double seconds = 20;  // about, for all probes together
  /// Called before each probe with the share that is done (0 to 1) and what comes next.
  std::function<void(double done, const std::string& next)> progress;
};

/// Every pair of domains, and of each level a few pairs of places whose nearest common group is of
/// that level, each several times. `machine` is one node. Throws std::runtime_error when a pair of
/// domains gives no figure.
Measurement measure_node(const Machine& machine, const Probes& probes,
                         const MeasureOptions& options);

/// Pairs of places whose nearest common group is of `level` (-1: none is common), from the first,
/// middle and last such group; at most three, none when the level has a single part.
std::vector<std::pair<PlaceId, PlaceId>> sample_pairs(const Machine& machine, int level);

/// The machine with the measured factors and costs: a message costs a local memory read and a byte
/// a core's share of its domain's bandwidth, each times its factor. That is the hardware's part:
/// the software's comes on top.
Machine with_measurement(const Machine& machine, Measurement measurement);

/// The unit of all factors: the median over the domains.
double local_latency_ns(const Machine& machine, const Measurement& measurement);

}  // namespace poise
