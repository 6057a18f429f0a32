// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/measure.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

#include "poise/base/check.h"
#include "poise/base/error.h"
#include "poise/machine/spread.h"
#include "poise/machine/tuning.h"

namespace poise {

namespace {

/// The number of times that each probe runs, and the duration of one run.
struct Slices {
  int repeats;
  double seconds;
};

/// Divides `seconds` among probes that run for at least `least_s` each. If time is short, there are
/// fewer repetitions rather than shorter probes.
Slices slices_for(double seconds, std::size_t probes, double least_s, double most_s) {
  const double each_s = seconds / std::max<std::size_t>(probes, 1);
  const int repeats = static_cast<int>(std::clamp<double>(
      each_s / least_s, machine_tuning::kMinRepeats, machine_tuning::kMaxRepeats));
  return {repeats, std::clamp(each_s / repeats, least_s, most_s)};
}

/// Counts the probes that have finished, to report progress.
class Progress {
 public:
  Progress(const MeasureOptions& options, std::size_t probes)
      : tell_(options.progress), probes_(probes) {}
  void next(const std::string& what) {
    if (tell_) tell_(done_ / probes_, what);
    done_ += 1;
  }

 private:
  const std::function<void(double, const std::string&)>& tell_;
  double probes_, done_ = 0;
};

/// Returns the place whose reads are measured for a domain: the fastest place of the domain.
PlaceId reader_of(const Machine& machine, DomainId domain) {
  PlaceId best = machine.first_place(domain);
  for (PlaceId p = best; p < machine.first_place(domain + 1); ++p)
    if (machine.speed_of(p) > machine.speed_of(best)) best = p;
  return best;
}

Spread spread_or_throw(std::vector<double> values, const char* what, DomainId from, DomainId to) {
  if (values.empty())
    throw std::runtime_error(
        fmt::format("cannot measure the {} from memory domain {} to memory domain {}: other "
                    "programs kept the cores busy; measure again on an idle node",
                    what, from, to));
  return spread_of(std::move(values));
}

void measure_latencies(const Machine& machine, const Probes& probes, const Slices& slices,
                       Progress& progress, Measurement& result) {
  const DomainId domains = machine.num_domains();
  for (DomainId from = 0; from < domains; ++from) {
    std::vector<std::vector<double>> values(domains);
    // Each repetition measures all readers, so that a short disturbance by another program does not
    // affect one reader only.
    for (int repeat = 0; repeat < slices.repeats; ++repeat)
      for (DomainId to = 0; to < domains; ++to) {
        progress.next(fmt::format("memory latency, domain {} to {}", from, to));
        const auto value =
            probes.read_ns(machine.first_place(from), reader_of(machine, to), slices.seconds);
        if (value) values[to].push_back(*value);
      }
    for (DomainId to = 0; to < domains; ++to)
      result.latency_ns.push_back(spread_or_throw(std::move(values[to]), "latency", from, to));
  }
}

void measure_bandwidths(const Machine& machine, const Probes& probes, const Slices& slices,
                        Progress& progress, Measurement& result) {
  for (DomainId from = 0; from < machine.num_domains(); ++from)
    for (DomainId to = 0; to < machine.num_domains(); ++to) {
      std::vector<double> values;
      for (int repeat = 0; repeat < slices.repeats; ++repeat) {
        progress.next(fmt::format("bandwidth, domain {} to {}", from, to));
        if (const auto value = probes.gigabytes_per_s(from, to, slices.seconds))
          values.push_back(*value);
      }
      result.gigabytes_per_s.push_back(spread_or_throw(std::move(values), "bandwidth", from, to));
    }
}

using Pairs = std::vector<std::pair<PlaceId, PlaceId>>;

void measure_level(const std::string& name, const Pairs& pairs, const Probes& probes,
                   const Slices& slices, Progress& progress, Measurement& result) {
  std::vector<double> values;
  for (int repeat = 0; repeat < slices.repeats; ++repeat)
    for (const auto& [a, b] : pairs) {
      progress.next(fmt::format("core to core, {}", name));
      if (const auto value = probes.one_way_ns(a, b, slices.seconds)) values.push_back(*value);
    }
  if (!values.empty()) result.levels.push_back({name, spread_of(std::move(values))});
}

const LevelLatency* latency_of(const Measurement& measurement, std::string_view level) {
  const auto found = std::find_if(measurement.levels.begin(), measurement.levels.end(),
                                  [&](const LevelLatency& l) { return l.level == level; });
  return found == measurement.levels.end() ? nullptr : &*found;
}

void set_level_factors(const Machine& machine, double local_ns, MachineParts& parts) {
  const Measurement& measurement = parts.facts.measurement;
  if (const LevelLatency* found = latency_of(measurement, "machine"))
    if (machine.num_domains() == 1)
      parts.root_latency_factor = four_digits(found->one_way_ns.median / local_ns);
  for (Level& level : parts.levels) {
    const LevelLatency* found = latency_of(measurement, level.name);
    if (found != nullptr) level.latency_factor = four_digits(found->one_way_ns.median / local_ns);
  }
  if (!measurement.levels.empty()) parts.cache_source = Source::measured;
}

}  // namespace

std::vector<std::pair<PlaceId, PlaceId>> sample_pairs(const Machine& machine, int level) {
  const std::size_t finer = level + 1;
  if (finer >= machine.levels().size()) return {};
  const std::vector<PlaceId>& parts = machine.levels()[finer].first_place;
  const std::vector<PlaceId> whole{0, machine.num_places()};
  const std::vector<PlaceId>& groups = level < 0 ? whole : machine.levels()[finer - 1].first_place;
  Pairs all;
  for (std::size_t g = 0; g + 1 < groups.size(); ++g) {
    const auto first = std::lower_bound(parts.begin(), parts.end(), groups[g]);
    const auto end = std::lower_bound(first, parts.end(), groups[g + 1]);
    if (end - first > 1) all.emplace_back(*first, *(end - 1));
  }
  if (all.size() <= machine_tuning::kPairsPerLevel) return all;
  return {all.front(), all[all.size() / 2], all.back()};
}

Measurement measure_node(const Machine& machine, const Probes& probes,
                         const MeasureOptions& options) {
  POISE_CHECK(machine.num_nodes() == 1);
  std::vector<std::pair<std::string, Pairs>> levels;
  std::size_t level_probes = 0;
  for (int l = -1; l + 1 < std::ssize(machine.levels()); ++l) {
    Pairs pairs = sample_pairs(machine, l);
    level_probes += pairs.size();
    if (!pairs.empty())
      levels.emplace_back(l < 0 ? "machine" : machine.levels()[l].name, std::move(pairs));
  }
  const std::size_t pairs = std::size_t{machine.num_domains()} * machine.num_domains();
  const Slices latency =
      slices_for(machine_tuning::kLatencyShare * options.seconds, pairs,
                 machine_tuning::kMinLatencyProbe_s, machine_tuning::kMaxProbe_s);
  const Slices bandwidth =
      slices_for(machine_tuning::kBandwidthShare * options.seconds, pairs,
                 machine_tuning::kMinBandwidthProbe_s, machine_tuning::kMaxProbe_s);
  const Slices level =
      slices_for(machine_tuning::kLevelShare * options.seconds, level_probes,
                 machine_tuning::kMinLatencyProbe_s, machine_tuning::kMaxLevelProbe_s);
  const auto count = [](const Slices& slices, std::size_t probes_of_it) {
    return slices.repeats * probes_of_it;
  };
  Progress progress(options,
                    count(latency, pairs) + count(bandwidth, pairs) + count(level, level_probes));
  Measurement result;
  result.host = machine.name();
  measure_latencies(machine, probes, latency, progress, result);
  for (const auto& [name, sample] : levels)
    measure_level(name, sample, probes, level, progress, result);
  measure_bandwidths(machine, probes, bandwidth, progress, result);
  return result;
}

double local_latency_ns(const Machine& machine, const Measurement& measurement) {
  const std::size_t pairs = std::size_t{machine.num_domains()} * machine.num_domains();
  if (measurement.latency_ns.size() != pairs)
    fail(
        "machine \"{}\": measurement.latency_ns has {} entries; it must have {}, one for each pair "
        "of memory domains",
        machine.name(), measurement.latency_ns.size(), pairs);
  std::vector<double> own;
  for (std::size_t d = 0; d < machine.num_domains(); ++d)
    own.push_back(measurement.latency_ns[d * machine.num_domains() + d].median);
  return spread_of(std::move(own)).median;
}

Machine with_measurement(const Machine& machine, Measurement measurement) {
  MachineParts parts = machine.parts();
  const std::size_t domains = machine.num_domains();
  NodeKind& kind = parts.node_kinds[0];
  for (std::size_t from = 0; from < domains; ++from)
    for (std::size_t to = 0; to < domains; ++to) {
      if (from == to) continue;
      const std::size_t pair = from * domains + to, own = to * domains + to;
      kind.latency_factor[pair] =
          four_digits(measurement.latency_ns[pair].median / measurement.latency_ns[own].median);
      kind.bandwidth_factor[pair] = four_digits(measurement.gigabytes_per_s[own].median /
                                                measurement.gigabytes_per_s[pair].median);
    }
  parts.numa_source = Source::measured;
  const double local_ns = local_latency_ns(machine, measurement);
  const double places_per_domain = 1.0 * machine.num_places() / machine.num_domains();
  parts.costs.seconds_per_message = four_digits(local_ns * 1e-9);
  parts.costs.seconds_per_byte = places_per_domain / (measurement.gigabytes_per_s[0].median * 1e9);
  parts.costs.inside.latency_s = four_digits(local_ns * 1e-9);
  parts.costs.bus_bytes_per_s = four_digits(measurement.gigabytes_per_s[0].median * 1e9);
  parts.facts.measurement = std::move(measurement);
  set_level_factors(machine, local_ns, parts);
  return Machine(std::move(parts));
}

}  // namespace poise
