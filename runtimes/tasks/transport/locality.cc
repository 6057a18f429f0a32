// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/transport/locality.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <sched.h>
#include <string>
#include <unistd.h>
#include <utility>

#include "runtimes/tasks/transport/collective.h"

#include "poise/base/error.h"
#include "poise/machine/find.h"
#include "poise/machine/tuning.h"

namespace poise::tasks {

namespace {

std::string line_of(const char* path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

// Identifies this host by a hash, because MPI_Comm_split_type would need several blocking
// collective operations.
std::uint64_t own_host() {
  char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
  int length = 0;
  MPI_Get_processor_name(name, &length);
  // Hosts of the same name, for example localhost, have different boot ids.
  return hash_of(line_of("/proc/sys/kernel/random/boot_id") + name);
}

/// The processing units to which this rank is bound; empty if it may run on all.
std::vector<std::uint32_t> units_bound_to() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return {};
  if (CPU_COUNT(&set) >= ::sysconf(_SC_NPROCESSORS_ONLN)) return {};
  std::vector<std::uint32_t> units;
  for (std::uint32_t unit = 0; unit < CPU_SETSIZE; ++unit)
    if (CPU_ISSET(unit, &set)) units.push_back(unit);
  return units;
}

// True if the node may have several memory domains. Reads a file of Linux, because starting hwloc
// takes about 10 ms. If environment variables make hwloc describe another machine, returns true
// without reading the file.
bool has_several_domains() {
  if (std::getenv("HWLOC_SYNTHETIC") || std::getenv("HWLOC_XMLFILE")) return true;
  return line_of("/sys/devices/system/node/online").find_first_of("-,") != std::string::npos;
}

Machine machine_here() {
  static const Machine machine = [] {
    try {
      return live_machine();
    } catch (const Error&) {  // treats all ranks of the node as equally near
      return Machine();
    }
  }();
  return machine;
}

std::int64_t number_of(const Machine& machine, DomainId domain) {
  const auto& numbers = machine.parts().facts.numa_index;
  return domain < numbers.size() ? numbers[domain] : domain;
}

double distance_between(const Machine& machine, const RankLocation& own,
                        const RankLocation& other) {
  if (own.host != other.host) return std::numeric_limits<double>::infinity();
  if (own.domain == other.domain || own.domain < 0 || other.domain < 0) return 1;
  std::optional<DomainId> from, to;
  for (DomainId domain = 0; domain < machine.num_domains(); ++domain) {
    if (number_of(machine, domain) == own.domain) from = domain;
    if (number_of(machine, domain) == other.domain) to = domain;
  }
  return from && to ? std::max(1.0, machine.latency_factor(*from, *to))
                    : machine_tuning::kAssumedNumaFactor;
}

}  // namespace

std::int64_t domain_of(const Machine& machine, std::span<const std::uint32_t> units) {
  std::int64_t found = -1;
  for (const Place& place : machine.places()) {
    if (std::find(units.begin(), units.end(), place.os_index) == units.end()) continue;
    const std::int64_t number = number_of(machine, place.domain);
    if (found >= 0 && found != number) return -1;
    found = number;
  }
  return found;
}

Locality locality_among(std::span<const RankLocation> ranks, std::uint32_t own_rank,
                        const Machine& machine) {
  const RankLocation& own = ranks[own_rank];
  std::map<std::uint64_t, std::uint32_t> first_of_host;
  std::map<std::pair<std::uint64_t, std::int64_t>, std::uint32_t> first_of_group;
  Locality locality;
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    const auto& [host, domain] = ranks[rank];
    const std::pair group(host, host == own.host ? domain : -1);
    locality.nodes.push_back(first_of_host.emplace(host, rank).first->second);
    locality.of_rank.push_back({first_of_group.emplace(group, rank).first->second,
                                distance_between(machine, own, ranks[rank])});
  }
  return locality;
}

Locality discover_locality(MPI_Comm communicator) {
  std::vector<std::uint32_t> units;
  if (has_several_domains()) units = units_bound_to();
  const Machine machine = units.empty() ? Machine() : machine_here();
  const auto ranks = all_of(communicator, RankLocation{own_host(), domain_of(machine, units)});
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return locality_among(ranks, rank, machine);
}

std::vector<std::uint32_t> Locality::node_of(std::uint32_t rank) const {
  std::vector<std::uint32_t> node;
  for (std::uint32_t other = 0; other < nodes.size(); ++other)
    if (nodes[other] == nodes[rank]) node.push_back(other);
  return node;
}

}  // namespace poise::tasks
