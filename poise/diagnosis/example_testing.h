// SPDX-License-Identifier: BSD-3-Clause
// A small measured run with its trace, for tests.
#pragma once

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "poise/diagnosis/replayed_run.h"
#include "poise/machine/text.h"

namespace poise {

/// A run of ten equal phases. Rank r is at place r of the machine, unless `places` says otherwise.
struct Example {
  MeasuredRun run;
  Trace trace;

  Example(const std::string& machine, const std::vector<double>& loads_s,
          const std::vector<Message>& messages, std::vector<PlaceId> places = {}) {
    trace.machine = machine_from_text(machine);
    trace.num_places = trace.machine->num_places();
    if (places.empty()) {
      places.resize(loads_s.size());
      std::iota(places.begin(), places.end(), 0u);
    }
    for (const PlaceId place : places)
      run.node_of_rank.push_back(trace.machine->node_of_place(place));
    for (int p = 0; p < 10; ++p) {
      Phase& phase = trace.phases.emplace_back();
      phase.placement = Placement(places);
      phase.workload.messages = messages;
      MeasuredPhase& measured = run.phases.emplace_back();
      for (const double load_s : loads_s) {
        phase.workload.tasks.push_back({.load_s = load_s});
        measured.ranks.push_back({.wall_s = load_s, .useful_s = load_s, .load_s = load_s});
      }
    }
  }

  RankLoads loads_s() const {
    RankLoads loads;
    for (const MeasuredPhase& phase : run.phases) {
      loads.emplace_back();
      for (const RankTimes& rank : phase.ranks) loads.back().push_back(rank.load_s);
    }
    return loads;
  }
};

}  // namespace poise
