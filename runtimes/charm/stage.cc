// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/stage.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "runtimes/balance/job_machine.h"

#include "poise/base/error.h"
#include "poise/machine/find.h"
#include "poise/machine/text.h"

namespace poise::charm {

namespace {

void set_speeds(const Statistics& statistics, Stage& stage) {
  double fastest = 0;
  bool differ = false;
  for (const std::uint32_t pe : stage.pe_map.pe_of_place) {
    const double speed = statistics.pes[pe].speed;
    if (!(speed > 0 && std::isfinite(speed)))
      fail("PE {} has speed {}; it must be finite and above 0", pe, speed);
    differ = differ || speed != statistics.pes[stage.pe_map.pe_of_place[0]].speed;
    fastest = std::max(fastest, speed);
  }
  if (differ) {
    MachineParts parts = stage.machine.parts();
    for (PlaceId p = 0; p < parts.places.size(); ++p)
      parts.places[p].speed = statistics.pes[stage.pe_map.pe_of_place[p]].speed / fastest;
    stage.machine = Machine(std::move(parts));
  }
  for (const Place& place : stage.machine.places()) stage.speed_of_place.push_back(place.speed);
}

}  // namespace

Machine host_of(const Settings& settings) {
  return balance::with_assumptions(settings.machine.empty() ? balance::own_node()
                                                            : find_machine(settings.machine));
}

Stage stage_of(const Machine& host, const Statistics& statistics) {
  std::vector<std::uint32_t> pes, hosts;
  std::vector<balance::ProcessLocation> processes;
  std::vector<std::string> names;
  for (std::uint32_t pe = 0; pe < statistics.pes.size(); ++pe) {
    const PeRow& row = statistics.pes[pe];
    if (!row.available) continue;
    auto at = std::find(hosts.begin(), hosts.end(), row.host);
    if (at == hosts.end()) {
      at = hosts.insert(at, row.host);
      names.push_back(fmt::format("host{}", row.host));
    }
    pes.push_back(pe);
    processes.emplace_back(at - hosts.begin(), row.core_os_index);
  }
  if (pes.empty()) fail("all PEs are marked unavailable; at least one must be available");
  balance::JobMachine job = balance::job_machine(host, processes, names);
  Stage stage{std::move(job.machine), {}, {}};
  stage.pe_map.place_of_pe.assign(statistics.pes.size(), kNoPlace);
  for (const std::uint32_t process : job.process_of_place) {
    stage.pe_map.place_of_pe[pes[process]] = stage.pe_map.pe_of_place.size();
    stage.pe_map.pe_of_place.push_back(pes[process]);
  }
  set_speeds(statistics, stage);
  return stage;
}

bool is_same_stage(const std::vector<PeRow>& a, const std::vector<PeRow>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const PeRow& x, const PeRow& y) {
    return x.available == y.available && x.host == y.host && x.speed == y.speed &&
           x.core_os_index == y.core_os_index;
  });
}

}  // namespace poise::charm
