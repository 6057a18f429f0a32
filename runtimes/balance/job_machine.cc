// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/balance/job_machine.h"

#include <algorithm>
#include <set>

#include "poise/base/error.h"
#include "poise/machine/find.h"
#include "poise/machine/hosts.h"
#include "poise/machine/slots.h"
#include "poise/machine/text.h"
#include "poise/machine/tuning.h"

namespace poise::balance {

namespace {

/// Returns for each process the place of the core to which it is bound. The result is empty if any
/// process is not bound to a single core, or if two processes are bound to the same core.
std::vector<PlaceId> places_of_cores(const Machine& node,
                                     std::span<const ProcessLocation> processes) {
  std::vector<PlaceId> places;
  std::set<PlaceId> distinct;
  for (const ProcessLocation& process : processes)
    for (PlaceId p = 0; p < node.num_places(); ++p)
      if (node.place(p).os_index == static_cast<std::uint32_t>(process.core_os_index)) {
        places.push_back(p);
        distinct.insert(p);
      }
  if (places.size() != processes.size() || distinct.size() != processes.size()) places.clear();
  return places;
}

/// Returns the places of one host's processes, in order, with `places_per_process` places for each.
std::vector<PlaceId> places_on(const Machine& node, std::span<const ProcessLocation> processes,
                               std::uint32_t places_per_process) {
  std::vector<PlaceId> places;
  if (places_per_process == 1) places = places_of_cores(node, processes);
  if (!places.empty()) return places;
  const auto num_slots = static_cast<std::uint32_t>(processes.size()) * places_per_process;
  for (std::uint64_t slot = 0; slot < num_slots; ++slot)
    places.push_back(static_cast<PlaceId>(
        num_slots <= node.num_places() ? slot : slot * node.num_places() / num_slots));
  return places;
}

}  // namespace

std::int32_t bound_core(AffinityCall call) {
  constexpr int kMaxHardwareThreads = 2;  // per core
  // The mask has room for 65,536 cpus, because the kernel refuses a mask that is smaller than the
  // kernel's own.
  std::vector<cpu_set_t> sets(64);
  const std::size_t bytes = sets.size() * sizeof(cpu_set_t);
  if (call(0, bytes, sets.data()) != 0) return -1;
  if (CPU_COUNT_S(bytes, sets.data()) > kMaxHardwareThreads) return -1;
  for (std::size_t cpu = 0; cpu < 8 * bytes; ++cpu)
    if (CPU_ISSET_S(cpu, bytes, sets.data())) return static_cast<std::int32_t>(cpu);
  return -1;
}

Machine own_node() {
  try {
    return live_machine();
    // live_machine() throws if hwloc cannot read the hardware, or if the stored measurement belongs
    // to another machine.
  } catch (const Error&) {
    return flat_machine(1);
  }
}

Machine with_assumptions(const Machine& node) {
  MachineParts parts = node.parts();
  parts.costs.formula = CostFormula::physical;
  if (parts.network_source == Source::assumed)
    parts.network.factor = machine_tuning::kAssumedNetworkFactor;
  for (Level& level : parts.levels) level.latency_factor = std::max(level.latency_factor, 1.0);
  return Machine(std::move(parts));
}

JobMachine job_machine(const Machine& node, std::span<const ProcessLocation> processes,
                       std::span<const std::string> host_names, std::uint32_t places_per_process) {
  if (host_names.size() > 1 && node.num_nodes() > 1)
    fail(
        "machine \"{}\" has {} nodes, but must describe only one host of this job of {} hosts, "
        "which Poise assumes to be identical; leave out the level \"node\"",
        node.name(), node.num_nodes(), host_names.size());
  struct Slot {
    PlaceId place;
    std::uint32_t process;
  };
  std::vector<std::vector<std::uint32_t>> processes_of_host(host_names.size());
  for (std::uint32_t i = 0; i < processes.size(); ++i)
    processes_of_host.at(processes[i].host).push_back(i);
  std::vector<Slot> slots;
  for (std::uint32_t host = 0; host < processes_of_host.size(); ++host) {
    std::vector<ProcessLocation> processes_here;
    for (const std::uint32_t i : processes_of_host[host]) processes_here.push_back(processes[i]);
    const std::vector<PlaceId> places = places_on(node, processes_here, places_per_process);
    for (std::size_t i = 0; i < places.size(); ++i)
      slots.push_back(
          {host * node.num_places() + places[i], processes_of_host[host][i / places_per_process]});
  }
  std::stable_sort(slots.begin(), slots.end(),
                   [](const Slot& a, const Slot& b) { return a.place < b.place; });
  JobMachine result;
  std::vector<PlaceId> places;
  for (const Slot& slot : slots) {
    places.push_back(slot.place);
    result.process_of_place.push_back(slot.process);
  }
  result.machine = slots_of(host_names.size() > 1 ? cluster_of(node, host_names) : node, places);
  return result;
}

}  // namespace poise::balance
