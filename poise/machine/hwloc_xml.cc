// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/hwloc_xml.h"

#include <cmath>
#include <hwloc.h>
#include <memory>
#include <vector>

#include "poise/base/error.h"

namespace poise {

namespace {

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

Topology topology_of_host() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0)
    fail("hwloc cannot be initialised (hwloc_topology_init failed); check whether lstopo works");
  Topology owned(topology, hwloc_topology_destroy);
  if (hwloc_topology_load(topology) != 0)
    fail(
        "hwloc cannot read the topology of this machine (hwloc_topology_load failed); check "
        "whether lstopo works");
  return owned;
}

std::vector<hwloc_obj_t> nodes_of(hwloc_topology_t topology, const Machine& machine) {
  std::vector<hwloc_obj_t> nodes;
  for (const std::uint32_t number : machine.parts().facts.numa_index) {
    nodes.push_back(hwloc_get_numanode_obj_by_os_index(topology, number));
    if (nodes.back() == nullptr)
      fail(
          "the description of the machine lists NUMA node {}, which this host does not have; run "
          "poise "
          "measure on this host",
          number);
  }
  return nodes;
}

void add_matrix(hwloc_topology_t topology, std::vector<hwloc_obj_t>& nodes, const char* name,
                unsigned long meaning, std::vector<hwloc_uint64_t> values) {
  const unsigned long kind = HWLOC_DISTANCES_KIND_FROM_USER | meaning;
  const hwloc_distances_add_handle_t matrix = hwloc_distances_add_create(topology, name, kind, 0);
  if (matrix == nullptr ||
      hwloc_distances_add_values(topology, matrix, nodes.size(), nodes.data(), values.data(), 0) !=
          0 ||
      hwloc_distances_add_commit(topology, matrix, 0) != 0)
    fail("hwloc does not accept the distance matrix \"{}\"", name);
}

}  // namespace

std::string hwloc_xml_of_host(const Machine& machine) {
  const Topology topology = topology_of_host();
  std::vector<hwloc_obj_t> nodes = nodes_of(topology.get(), machine);
  if (nodes.size() > 1) {
    std::vector<hwloc_uint64_t> latency, bandwidth;
    for (DomainId to = 0; to < nodes.size(); ++to)
      for (DomainId from = 0; from < nodes.size(); ++from) {
        latency.push_back(std::llround(kHwlocUnit * machine.latency_factor(from, to)));
        bandwidth.push_back(std::llround(kHwlocUnit / machine.bandwidth_factor(from, to)));
      }
    add_matrix(topology.get(), nodes, kHwlocLatency, HWLOC_DISTANCES_KIND_MEANS_LATENCY,
               std::move(latency));
    add_matrix(topology.get(), nodes, kHwlocBandwidth, HWLOC_DISTANCES_KIND_MEANS_BANDWIDTH,
               std::move(bandwidth));
  }
  char* text = nullptr;
  int size = 0;
  if (hwloc_topology_export_xmlbuffer(topology.get(), &text, &size, 0) != 0)
    fail("hwloc cannot write the topology as XML");
  const std::string xml(text);
  hwloc_free_xmlbuffer(topology.get(), text);
  return xml;
}

}  // namespace poise
