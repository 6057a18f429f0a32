// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/discover.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <hwloc.h>
#include <map>
#include <memory>
#include <optional>
#include <unistd.h>

#include "poise/base/error.h"
#include "poise/base/text.h"
#include "poise/machine/hwloc_xml.h"
#include "poise/machine/json.h"
#include "poise/machine/limits.h"
#include "poise/machine/sandbox.h"
#include "poise/machine/tuning.h"

namespace poise {

namespace {

constexpr std::uint64_t kMaxSyntheticUnits = 1u << 14;
// Limit on each count in hwloc's synthetic text. A count is the number of groups of a level in each
// group of the level above.
constexpr std::uint64_t kMaxSyntheticCount = 512;
constexpr std::size_t kMaxXmlBytes = 1u << 30;
constexpr double kMaxNumaFactor = 1000;
constexpr double kMinNumaFactor = 0.01;  // lower limit for measured factors, which may be below 1

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

Topology new_topology() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0)
    fail("hwloc cannot be initialised (hwloc_topology_init failed); check whether lstopo works");
  return {topology, hwloc_topology_destroy};
}

/// A core, or a processing unit without a core, before it becomes a place of the machine.
struct Site {
  hwloc_obj_t core;
  hwloc_obj_t unit;  // first processing unit of the core
  std::uint32_t threads;
  hwloc_obj_t numa;  // memory of the core's domain; null if no allowed memory is near the core
};

/// A partition of the places into ranges. Range i begins at starts[i] and ends before starts[i +
/// 1].
struct Partition {
  std::string name;
  std::vector<PlaceId> starts;
};

hwloc_obj_t ancestor_at(hwloc_obj_t object, int depth) {
  while (object != nullptr && object->depth > depth) object = object->parent;
  return object != nullptr && object->depth == depth ? object : nullptr;
}

bool is_dram(hwloc_obj_t numa) {
  return numa->subtype == nullptr || std::string_view(numa->subtype) == "DRAM";
}

/// hwloc attaches memory to the object of the tree to which the memory is local. (By default, it
/// leaves out memory-side caches.) The domain of a core is the nearest DRAM; HBM, NVM and similar
/// memory are used only if there is no DRAM.
hwloc_obj_t domain_memory(hwloc_obj_t core) {
  hwloc_obj_t fallback = nullptr;
  for (hwloc_obj_t object = core; object != nullptr; object = object->parent) {
    for (hwloc_obj_t numa = object->memory_first_child; numa != nullptr;
         numa = numa->next_sibling) {
      if (is_dram(numa)) return numa;
      if (fallback == nullptr) fallback = numa;
    }
  }
  return fallback;
}

std::vector<Site> find_sites(hwloc_topology_t topology) {
  std::vector<Site> sites;
  hwloc_obj_t unit = nullptr;
  while ((unit = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, unit)) != nullptr) {
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit);
    if (core == nullptr) core = unit;
    if (!sites.empty() && sites.back().core == core)
      ++sites.back().threads;
    else
      sites.push_back({core, unit, 1, domain_memory(core)});
  }
  return sites;
}

/// Gives every core without allowed local memory the domain of another core.
///
/// A job may be allowed the cores of a NUMA node but not its memory (a cgroup's cpuset.mems). The
/// operating system then takes pages from the nearest node whose memory is allowed, so the core
/// belongs to that node's domain. hwloc drops the distances of nodes that are not allowed, so this
/// function takes the core with the deepest common ancestor in the tree, and of two equally deep
/// ones the first. The cores below an ancestor are consecutive, so each domain remains a range of
/// places.
void adopt_domains(hwloc_topology_t topology, std::vector<Site>& sites) {
  const std::size_t count = sites.size();
  // before[p] is the last core with local memory among the cores up to p, after[p] is the first
  // core with local memory among the cores from p on. Null if there is no such core.
  std::vector<const Site*> before(count), after(count);
  for (std::size_t p = 0; p < count; ++p)
    before[p] = sites[p].numa != nullptr ? &sites[p] : p > 0 ? before[p - 1] : nullptr;
  for (std::size_t p = count; p-- > 0;)
    after[p] = sites[p].numa != nullptr ? &sites[p] : p + 1 < count ? after[p + 1] : nullptr;
  const auto depth = [&](const Site& site, const Site* other) {
    return other == nullptr
               ? -1
               : hwloc_get_common_ancestor_obj(topology, site.core, other->core)->depth;
  };
  for (std::size_t p = 0; p < count; ++p) {
    Site& site = sites[p];
    if (site.numa != nullptr || (before[p] == nullptr && after[p] == nullptr)) continue;
    site.numa = depth(site, before[p]) >= depth(site, after[p]) ? before[p]->numa : after[p]->numa;
  }
}

std::string_view info_of(hwloc_obj_t object, const char* name) {
  const char* value = hwloc_obj_get_info_by_name(object, name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// Levels.

std::string name_of_type(hwloc_obj_type_t type) {
  switch (type) {
    case HWLOC_OBJ_PACKAGE: return "package";
    case HWLOC_OBJ_DIE: return "die";
    case HWLOC_OBJ_GROUP: return "group";
    case HWLOC_OBJ_L5CACHE: return "l5";
    case HWLOC_OBJ_L4CACHE: return "l4";
    case HWLOC_OBJ_L3CACHE: return "l3";
    case HWLOC_OBJ_L2CACHE: return "l2";
    case HWLOC_OBJ_L1CACHE: return "l1";
    default: return "";
  }
}

std::vector<PlaceId> starts_where(std::size_t count, auto changes) {
  std::vector<PlaceId> starts{0};
  for (PlaceId p = 1; p < count; ++p)
    if (changes(p)) starts.push_back(p);
  starts.push_back(count);
  return starts;
}

/// Returns one partition of the places per depth of the tree; each refines the one before it. In an
/// asymmetric tree, some places have no object at a given depth. If such places are consecutive,
/// they stay in one group unless the partition before separates them.
std::vector<Partition> partitions_by_depth(hwloc_topology_t topology,
                                           const std::vector<Site>& sites) {
  std::vector<Partition> partitions;
  std::vector<PlaceId> starts{0, static_cast<PlaceId>(sites.size())};
  std::map<std::string, int> times_used;
  for (int depth = 1; depth < hwloc_topology_get_depth(topology); ++depth) {
    std::string name = name_of_type(hwloc_get_depth_type(topology, depth));
    if (name.empty()) continue;
    std::vector<PlaceId> changes = starts_where(sites.size(), [&](PlaceId p) {
      return ancestor_at(sites[p].core, depth) != ancestor_at(sites[p - 1].core, depth);
    });
    std::vector<PlaceId> merged;
    std::set_union(starts.begin(), starts.end(), changes.begin(), changes.end(),
                   std::back_inserter(merged));
    starts = std::move(merged);
    if (const int times = ++times_used[name]; times > 1) name += std::to_string(times);
    partitions.push_back({std::move(name), starts});
  }
  return partitions;
}

bool refines(const std::vector<PlaceId>& finer, const std::vector<PlaceId>& coarser) {
  return std::includes(finer.begin(), finer.end(), coarser.begin(), coarser.end());
}

/// Returns the levels of the machine: the domains, the cores, and every partition of the places in
/// which either each group consists of whole domains or each group lies inside one domain.
std::vector<Level> levels_of(const std::vector<Partition>& partitions,
                             const std::vector<PlaceId>& domains, std::size_t num_places) {
  std::vector<Level> levels;
  const auto add = [&](const Partition& partition) {
    const bool is_same = !levels.empty() && levels.back().first_place == partition.starts;
    if (!is_same) {
      levels.push_back({.name = partition.name, .first_place = partition.starts});
      return;
    }
    // Two levels with the same groups become one level with two names. The name of the first level
    // is the main one, except that "numa" is always the main one, because the factors between
    // domains belong to the level "numa".
    Level& level = levels.back();
    std::string other = partition.name;
    if (other == "numa") std::swap(other, level.name);
    level.also += (level.also.empty() ? "" : " ") + other;
  };
  for (const Partition& partition : partitions)
    if (refines(domains, partition.starts)) add(partition);
  add({"numa", domains});
  for (const Partition& partition : partitions) {
    const bool is_finer = refines(partition.starts, domains) && partition.starts != domains;
    if (is_finer && partition.starts.size() <= num_places) add(partition);
  }
  levels.push_back(
      {.name = "core", .first_place = starts_where(num_places, [](PlaceId) { return true; })});
  return levels;
}

// Functions that read the NUMA factors reported by the firmware.

struct Distances {
  hwloc_topology_t topology;
  hwloc_distances_s* matrix = nullptr;
  ~Distances() {
    if (matrix != nullptr) hwloc_distances_release(topology, matrix);
  }
};

/// Returns the factors between all domains, computed from hwloc's matrix of values for reads
/// between NUMA nodes. Element [from * domains + to] is factor_of(remote, local): `remote` is the
/// value for a core of `to` that reads memory of `from`, and `local` the value for a core of `to`
/// that reads its own memory. Returns nothing if a domain is missing or a factor is implausible.
template <typename Factor>
std::optional<std::vector<double>> factors_in(const hwloc_distances_s& matrix,
                                              const std::vector<hwloc_obj_t>& domains, double least,
                                              Factor factor_of) {
  std::vector<int> row(domains.size());
  for (std::size_t d = 0; d < domains.size(); ++d)
    if (row[d] = hwloc_distances_obj_index(const_cast<hwloc_distances_s*>(&matrix), domains[d]);
        row[d] < 0)
      return std::nullopt;

  std::vector<double> factors;
  for (std::size_t from = 0; from < domains.size(); ++from)
    for (std::size_t to = 0; to < domains.size(); ++to) {
      const std::size_t own = static_cast<std::size_t>(row[to]) * matrix.nbobjs;
      const double local = matrix.values[own + static_cast<unsigned>(row[to])];
      const auto remote =
          static_cast<double>(matrix.values[own + static_cast<unsigned>(row[from])]);
      const double factor = from == to ? 1 : factor_of(remote, local);
      if (!(factor >= least && factor <= kMaxNumaFactor)) return std::nullopt;
      factors.push_back(factor);
    }
  return factors;
}

double ratio(double a, double b) { return a / b; }

/// Latency between NUMA nodes according to the firmware, divided by the local latency (10 in the
/// ACPI SLIT). Returns nothing if the firmware has no latencies, or if they are implausible.
std::optional<std::vector<double>> firmware_factors(hwloc_topology_t topology,
                                                    const std::vector<hwloc_obj_t>& domains) {
  Distances distances{topology};
  unsigned count = 1;
  const unsigned long kind = HWLOC_DISTANCES_KIND_FROM_OS | HWLOC_DISTANCES_KIND_MEANS_LATENCY;
  if (hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &count, &distances.matrix, kind,
                                  0) != 0 ||
      count == 0)
    return std::nullopt;
  return factors_in(*distances.matrix, domains, 1, ratio);
}

/// Sets the NUMA factors of `kind` from the matrices that hwloc_xml.h writes. Returns false if the
/// topology does not contain valid matrices.
bool set_measured_factors(hwloc_topology_t topology, const std::vector<hwloc_obj_t>& domains,
                          NodeKind& kind) {
  Distances latency{topology}, bandwidth{topology};
  for (const auto& [name, found] :
       {std::pair{kHwlocLatency, &latency}, {kHwlocBandwidth, &bandwidth}}) {
    unsigned count = 1;
    if (hwloc_distances_get_by_name(topology, name, &count, &found->matrix, 0) != 0 || count == 0)
      return false;
  }
  auto latencies = factors_in(*latency.matrix, domains, kMinNumaFactor, ratio);
  auto bandwidths = factors_in(*bandwidth.matrix, domains, kMinNumaFactor,
                               [](double remote, double local) { return local / remote; });
  if (!latencies || !bandwidths) return false;
  kind.latency_factor = std::move(*latencies);
  kind.bandwidth_factor = std::move(*bandwidths);
  return true;
}

void set_domain_factors(hwloc_topology_t topology, const std::vector<hwloc_obj_t>& domains,
                        MachineParts& parts) {
  const std::size_t count = domains.size();
  NodeKind& kind = parts.node_kinds[0];
  kind.num_domains = count;
  kind.bandwidth_factor.assign(count * count, 1);
  if (set_measured_factors(topology, domains, kind)) {
    parts.numa_source = Source::measured;
    return;
  }
  if (auto factors = firmware_factors(topology, domains)) {
    kind.latency_factor = std::move(*factors);
    if (count > 1) parts.numa_source = Source::firmware;
    return;
  }
  kind.latency_factor.assign(count * count, 1);
  for (std::size_t from = 0; from < count; ++from)
    for (std::size_t to = 0; to < count; ++to)
      if (domains[from] != domains[to])
        kind.latency_factor[from * count + to] = machine_tuning::kAssumedNumaFactor;
}

// Functions that find the speeds of unequal cores.

/// Work per second of each kind of core, in any unit; empty if all kinds are equal.
struct Kinds {
  std::vector<double> performance;
  Source source = Source::assumed;
};

struct KindInfo {
  double capacity = 0, max_mhz = 0, base_mhz = 0;
  int efficiency = -1;
  bool is_small = false;  // a low-power core, which also does less work per cycle
};

KindInfo kind_info(hwloc_topology_t topology, unsigned kind, hwloc_bitmap_t units) {
  KindInfo result;
  unsigned count = 0;
  hwloc_info_s* infos = nullptr;
  hwloc_cpukinds_get_info(topology, kind, units, &result.efficiency, &count, &infos, 0);
  for (unsigned i = 0; i < count; ++i) {
    const std::string_view name = infos[i].name;
    const double value = parse_number(infos[i].value).value_or(0);
    if (name == "LinuxCapacity") result.capacity = value;
    if (name == "FrequencyMaxMHz") result.max_mhz = value;
    if (name == "FrequencyBaseMHz") result.base_mhz = value;
    if (name == "CoreType") result.is_small = std::string_view(infos[i].value) == "IntelAtom";
  }
  return result;
}

/// Rates each kind of core by the best figure that is known for all kinds: the kernel's capacity
/// (work per second), else the clock rate, else hwloc's order by efficiency. If only the clock is
/// known, a small core is assumed to do less work per cycle than a large core. If only the order is
/// known, each kind is assumed to be slower than the next one by a fixed ratio (tuning.h). If none
/// of these is known, all kinds are assumed to have the same clock rate.
Kinds rate_kinds(const std::vector<KindInfo>& kinds) {
  const auto all = [&](auto has) { return std::all_of(kinds.begin(), kinds.end(), has); };
  const auto each = [&](auto rate, Source source) {
    Kinds result{{}, source};
    for (const KindInfo& kind : kinds) result.performance.push_back(rate(kind));
    return result;
  };
  const auto per_cycle = [](const KindInfo& k) {
    return k.is_small ? machine_tuning::kWorkPerCycleOfSmallCore : 1.0;
  };
  if (all([](const KindInfo& k) { return k.capacity > 0; }))
    return each([](const KindInfo& k) { return k.capacity; }, Source::firmware);
  if (all([](const KindInfo& k) { return k.max_mhz > 0; }))
    return each([&](const KindInfo& k) { return k.max_mhz * per_cycle(k); }, Source::firmware);
  if (all([](const KindInfo& k) { return k.base_mhz > 0; }))
    return each([&](const KindInfo& k) { return k.base_mhz * per_cycle(k); }, Source::firmware);
  const auto ordered = [](const KindInfo& kind) {
    double rate = 1;
    for (int step = 0; step < std::min(kind.efficiency, 64); ++step)
      rate /= machine_tuning::kSpeedOfNextKind;
    return rate;
  };
  if (all([](const KindInfo& k) { return k.efficiency >= 0; }))
    return each(ordered, Source::assumed);
  return each(per_cycle, Source::assumed);
}

void set_speeds(hwloc_topology_t topology, const std::vector<Site>& sites, MachineParts& parts) {
  const int count = hwloc_cpukinds_get_nr(topology, 0);
  if (count < 2) return;
  std::vector<std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>> units;
  std::vector<KindInfo> infos;
  for (int kind = 0; kind < count; ++kind) {
    units.emplace_back(hwloc_bitmap_alloc(), hwloc_bitmap_free);
    infos.push_back(kind_info(topology, kind, units.back().get()));
  }
  const Kinds kinds = rate_kinds(infos);
  std::vector<double> speeds;
  for (const Site& site : sites) {
    const auto kind = std::find_if(units.begin(), units.end(), [&](const auto& set) {
      return hwloc_bitmap_isset(set.get(), site.unit->os_index) != 0;
    });
    if (kind == units.end()) return;  // nothing is known about this core
    speeds.push_back(kinds.performance[kind - units.begin()]);
  }
  const double fastest = *std::max_element(speeds.begin(), speeds.end());
  for (std::size_t p = 0; p < sites.size(); ++p) parts.places[p].speed = speeds[p] / fastest;
  parts.speed_source = kinds.source;
}

// Facts.

void set_memory(hwloc_topology_t topology, const std::vector<hwloc_obj_t>& domains, Facts& facts) {
  for (const hwloc_obj_t domain : domains) {
    if (domain == nullptr) continue;  // the one domain of a process that may use no NUMA node
    facts.numa_index.push_back(domain->os_index);
    facts.memory_bytes.push_back(domain->attr->numanode.local_memory);
  }
  hwloc_obj_t numa = nullptr;
  while ((numa = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, numa)) != nullptr)
    if (std::find(domains.begin(), domains.end(), numa) == domains.end())
      facts.other_memory.push_back({numa->subtype == nullptr ? "" : numa->subtype, numa->os_index,
                                    numa->attr->numanode.local_memory});
}

void set_caches(hwloc_topology_t topology, Facts& facts) {
  for (int depth = 0; depth < hwloc_topology_get_depth(topology); ++depth) {
    const hwloc_obj_type_t type = hwloc_get_depth_type(topology, depth);
    if (!hwloc_obj_type_is_dcache(type)) continue;
    for (hwloc_obj_t cache = nullptr;
         (cache = hwloc_get_next_obj_by_depth(topology, depth, cache)) != nullptr;) {
      const auto& attributes = cache->attr->cache;
      const auto same = [&](const Cache& known) {
        return known.name == name_of_type(type) && known.bytes == attributes.size;
      };
      const auto found = std::find_if(facts.caches.begin(), facts.caches.end(), same);
      if (found != facts.caches.end())
        ++found->count;
      else
        facts.caches.push_back({name_of_type(type), attributes.size, 1, attributes.linesize});
    }
  }
}

Machine machine_of(hwloc_topology_t topology, std::string name) {
  std::vector<Site> sites = find_sites(topology);
  if (sites.empty())
    fail(
        "{}: this process is not allowed to use any of the processing units; extend its CPU "
        "affinity or cpuset",
        name);
  adopt_domains(topology, sites);

  MachineParts parts;
  parts.name = std::move(name);
  parts.kind_of_node = {0};
  parts.places.resize(sites.size());
  std::vector<hwloc_obj_t> domains;
  const std::vector<PlaceId> domain_starts =
      starts_where(sites.size(), [&](PlaceId p) { return sites[p].numa != sites[p - 1].numa; });
  for (PlaceId p = 0; p < sites.size(); ++p) {
    if (domain_starts[domains.size()] == p) domains.push_back(sites[p].numa);
    parts.places[p] = {static_cast<DomainId>(domains.size() - 1), 1, sites[p].unit->os_index};
    parts.facts.threads.push_back(sites[p].threads);
  }
  parts.costs.bus_bytes_per_s = assumed_bus_bytes_per_s(parts.places);
  parts.levels = levels_of(partitions_by_depth(topology, sites), domain_starts, sites.size());
  if (domains[0] != nullptr) set_domain_factors(topology, domains, parts);
  set_speeds(topology, sites, parts);
  set_memory(topology, domains, parts.facts);
  set_caches(topology, parts.facts);
  if (hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0))
    parts.facts.processor = info_of(package, "CPUModel");
  return Machine(std::move(parts));
}

/// Marks XML of version 3 as version 2 for hwloc 2, which can read it but refuses the number 3.
std::string readable_xml(std::string_view xml) {
  std::string text(xml);
  const std::size_t version = text.substr(0, 1024).find("<topology version=\"3.");
  if (HWLOC_API_VERSION < 0x00030000 && version != std::string::npos)
    text[version + std::string_view("<topology version=\"").size()] = '2';
  return text;
}

Machine read_xml(const std::string& text, const std::string& name) {
  const Topology topology = new_topology();
  if (hwloc_topology_set_xmlbuffer(topology.get(), text.c_str(), text.size() + 1) != 0 ||
      hwloc_topology_load(topology.get()) != 0)
    fail("{}: hwloc cannot read this file; write it with \"lstopo --of xml FILE\"", name);
  return machine_of(topology.get(), name);
}

/// Returns the index after the next `closing` character.
std::size_t behind(std::string_view text, char closing, std::size_t at) {
  const std::size_t found = text.find(closing, at);
  if (found == std::string_view::npos)
    fail("machine text: \"{}\" has a bracket that is not closed", text);
  return found + 1;
}

/// Refuses synthetic texts that are too large, because the time that hwloc needs grows with the
/// square of a level's count. Every number is a count unless it ends a word ("l3") or is inside
/// brackets. As in hwloc, "[" opens brackets except between a level's name and its count, and "("
/// only at the start of the text and directly after a count.
void check_size(std::string_view text) {
  const std::string owned(text);
  std::uint64_t units = 1;
  // `is_word`: the previous character belongs to a word. `is_named`: the name of a level was read,
  // and its count was not yet read.
  bool is_word = false, is_named = false;
  std::size_t behind_count = owned.find_first_not_of(" \n");
  for (std::size_t at = 0; at < owned.size();) {
    const unsigned char c = owned[at];
    const bool is_attribute = c == '(' && at == behind_count;
    if (is_attribute || (c == '[' && !is_named)) {
      at = behind(owned, is_attribute ? ')' : ']', at);
      continue;
    }
    if (is_word || (std::isdigit(c) == 0 && c != '-')) {
      is_word = std::isalnum(c) != 0;
      is_named |= is_word;
      ++at;
      continue;
    }
    char* end = nullptr;
    const unsigned long long count = std::strtoull(&owned[at], &end, 0);
    if (count > kMaxSyntheticCount)
      fail(
          "machine text: \"{}\" contains a count above {}, the limit for hwloc's syntax; for "
          "larger counts, use Poise's syntax, such as \"node:1000 core:4\", without \"pu:\" and "
          "brackets",
          text, kMaxSyntheticCount);
    units *= std::max<std::uint64_t>(count, 1);
    if (units > kMaxSyntheticUnits)
      fail(
          "machine text: \"{}\" has more than {} processing units, the limit for hwloc's syntax; "
          "write a larger machine in Poise's syntax, such as \"node:1000 core:64\", without "
          "\"pu:\" and brackets",
          text, kMaxSyntheticUnits);
    is_named = false;
    at = behind_count = std::max<std::size_t>(at + 1, end - owned.data());
  }
}

}  // namespace

Machine discover_machine() {
  const Topology topology = new_topology();
  if (hwloc_topology_load(topology.get()) != 0)
    fail(
        "hwloc cannot read the topology of this machine (hwloc_topology_load failed); check "
        "whether lstopo works");
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0')
    return machine_of(topology.get(), "live");
  return machine_of(topology.get(), host);
}

Machine machine_from_hwloc_xml(std::string_view xml, const std::string& name) {
  if (xml.size() > kMaxXmlBytes)
    fail("{}: the file is larger than the maximum of {} bytes", name, kMaxXmlBytes);
  const auto json = in_sandbox([&] { return machine_to_json(read_xml(readable_xml(xml), name)); });
  if (!json)
    fail(
        "{}: hwloc can read only a part of this file; write it again with \"lstopo --of xml FILE\"",
        name);
  return machine_from_json(*json, name);
}

Machine machine_from_hwloc_synthetic(std::string_view text) {
  check_size(text);
  const Topology topology = new_topology();
  const std::string owned(text);
  if (hwloc_topology_set_synthetic(topology.get(), owned.c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0)
    fail("machine text: \"{}\" is not a synthetic topology; an example is \"pack:2 core:4 pu:2\"",
         text);
  if (hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_NUMANODE) >
      static_cast<int>(kMaxDomainsOfNode))
    fail(
        "machine text: \"{}\" has more than {} memory domains, the limit for one node; divide the "
        "machine into nodes in Poise's syntax, such as \"node:1000 numa:4 core:8\", without "
        "\"pu:\" and brackets",
        text, kMaxDomainsOfNode);
  return machine_of(topology.get(), owned);
}

}  // namespace poise
