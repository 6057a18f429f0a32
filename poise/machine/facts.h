// SPDX-License-Identifier: BSD-3-Clause
// Facts about a machine that decisions do not need: `poise topo` prints them and JSON stores them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace poise {

/// Median and quartiles of repeated measurements of the same quantity.
struct Spread {
  double median = 0;
  double low = 0;   // first quartile
  double high = 0;  // third quartile
};

struct Cache {
  std::string name = {};  // "l3"
  std::uint64_t bytes = 0;
  std::uint32_t count = 0;  // number of caches of this size in the whole machine
  std::uint32_t line_bytes = 0;
};

/// Memory outside all memory domains, such as HBM beside DRAM or a NUMA node without cores.
struct Memory {
  std::string kind = {};  // "HBM"; empty if the firmware does not say
  std::uint32_t os_index = 0;
  std::uint64_t bytes = 0;
};

/// Core-to-core latency: the one-way time of a cache line between two places that share a group of
/// `level`, but no group of a finer level.
struct LevelLatency {
  std::string level = {};  // "machine" if the places share no group
  Spread one_way_ns = {};
};

/// Times of messages between two hosts. The members fit_* describe the line that fits these times
/// best: time = latency + bytes / bytes_per_s.
struct HostPair {
  std::string from = {}, to = {};
  Spread latency_ns = {};  // latency of the smallest message in one direction
  double fit_latency_ns = 0;
  double fit_bytes_per_s = 0;
};

/// Measurements of one node by `poise measure`; the machine's factors are computed from them.
struct Measurement {
  std::string host = {};
  /// Element [from * domains + to] is measured by a core of domain `to` that reads memory of domain
  /// `from`.
  std::vector<Spread> latency_ns = {};
  std::vector<Spread> gigabytes_per_s = {};  // bandwidth while all cores of domain `to` read
  std::vector<LevelLatency> levels = {};
  std::vector<HostPair> network = {};

  bool empty() const { return latency_ns.empty() && network.empty(); }
};

struct Facts {
  std::string origin = {};  // where the numbers of the machine come from
  /// Values that the source of the numbers (`origin`) does not give and that are therefore assumed.
  std::vector<std::string> assumed = {};
  std::string processor = {};
  std::vector<std::uint32_t> threads = {};       // hardware threads per place; empty: one each
  std::vector<std::uint32_t> numa_index = {};    // per domain: its number in the operating system
  std::vector<std::uint64_t> memory_bytes = {};  // per domain; empty: unknown
  std::vector<Memory> other_memory = {};
  std::vector<Cache> caches = {};
  Measurement measurement = {};
};

}  // namespace poise
