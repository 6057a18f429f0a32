// What is known of a machine beyond what a decision needs: `poise topo` shows it, its JSON keeps
// it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace poise {

/// Repeated measurements of one thing: the median and the quartiles.
struct Spread {
  double median = 0;
  double low = 0;   // first quartile
  double high = 0;  // third quartile
};

struct Cache {
  std::string name = {};  // "l3"
  std::uint64_t bytes = 0;
  std::uint32_t count = 0;  // how many of this size the whole machine has
  std::uint32_t line_bytes = 0;
};

/// A memory that is nobody's domain: HBM beside DRAM, a NUMA node without cores.
struct Memory {
  std::string kind = {};  // "HBM", or empty when the firmware does not say
  std::uint32_t os_index = 0;
  std::uint64_t bytes = 0;
};

/// Core to core: the time a cache line takes one way between places that share a group of `level`
/// and of no finer one.
struct LevelLatency {
  std::string level = {};  // "machine" when they share none
  Spread one_way_ns = {};
};

/// Messages between hosts: seconds(bytes) = latency_s + bytes / bytes_per_s, by least squares.
struct HostPair {
  std::string from = {}, to = {};
  Spread latency_ns = {};  // one way, smallest message
  double fit_latency_ns = 0;
  double fit_bytes_per_s = 0;
};

/// What `poise measure` saw on one node, in its own units; the factors of the machine come from it.
struct Measurement {
  std::string host = {};
  /// [from * domains + to]: a core of `to` reads the memory of `from`.
  std::vector<Spread> latency_ns = {};
  std::vector<Spread> gigabytes_per_s = {};  // likewise, all cores of `to` together
  std::vector<LevelLatency> levels = {};
  std::vector<HostPair> network = {};

  bool empty() const { return latency_ns.empty() && network.empty(); }
};

struct Facts {
  std::string origin = {};                // where the numbers come from
  std::vector<std::string> assumed = {};  // what they do not say and was chosen here
  std::string processor = {};
  std::vector<std::uint32_t> threads = {};       // processing units per place; empty: one each
  std::vector<std::uint32_t> numa_index = {};    // the operating system's number of each domain
  std::vector<std::uint64_t> memory_bytes = {};  // per domain; empty: unknown
  std::vector<Memory> other_memory = {};
  std::vector<Cache> caches = {};
  Measurement measurement = {};
};

}  // namespace poise
