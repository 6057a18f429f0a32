// SPDX-License-Identifier: BSD-3-Clause
// The functions of the C interface for traces, and the conversion of problems to plain arrays.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "apps/analysis/problem_arrays.h"
#include "faces/library/arrays.h"
#include "faces/library/handles.h"

#include "poise/workload/checks.h"

using poise::fail;
using poise::library::checked;
using poise::library::guarded;
using poise::library::required;

struct poise_arrays {
  poise_arrays(const poise::Problem& problem) : arrays(problem), view(arrays.problem()) {}
  poise::library::Kind<0x706f697365617272> kind;
  poise::apps::ProblemArrays arrays;
  poise_problem view;
};

namespace {

const poise::Phase& phase_of(const poise_trace* trace, std::uint64_t phase) {
  const auto& phases = checked(trace, "trace").trace.phases;
  if (phase >= phases.size())
    fail("there is no phase {}; the trace has {} phases, numbered from 0", phase, phases.size());
  return phases[phase];
}

std::string format_of(const char* format) { return format == nullptr ? "" : format; }

/// Throws Error if background_s or place_bytes has entries, but not one per place. `num_places` is
/// the machine's number of places, if there is a machine.
void check_places(const poise::Workload& workload, std::optional<std::size_t> num_places) {
  const std::size_t background = workload.background_s.size(), used = workload.place_bytes.size();
  const std::size_t wanted = num_places.value_or(std::max(background, used));
  if (background != 0 && background != wanted)
    fail("background_s has {} entries, but there are {} places; give one entry per place",
         background, wanted);
  if (used != 0 && used != wanted)
    fail("place_bytes has {} entries, but there are {} places; give one entry per place", used,
         wanted);
}

/// Clears the members of the view that describe the machine, because the trace has no machine.
void without_machine(poise_problem& view, const poise::Workload& workload) {
  view.num_places = std::max(workload.background_s.size(), workload.place_bytes.size());
  view.num_domains = view.num_nodes = view.num_levels = 0;
  view.speed = view.latency_factor = view.bandwidth_factor = nullptr;
  view.domain = view.node = view.level_group = nullptr;
  view.level_name = nullptr;
  view.seconds_per_message = view.seconds_per_byte = view.seconds_per_migrated_byte = 0;
}

}  // namespace

int poise_trace_read(const char* path, const char* format, poise_trace** trace) {
  return guarded(__func__, [&] {
    poise_trace*& result = required(trace, "trace");
    auto handle = std::make_unique<poise_trace>();
    handle->trace =
        poise::read_trace(&required(path, "path"), {.format = format_of(format), .recover = false});
    result = handle.release();
  });
}

int poise_trace_write(const poise_trace* trace, const char* path, const char* format) {
  return guarded(__func__, [&] {
    poise::write_trace(checked(trace, "trace").trace, &required(path, "path"), format_of(format));
  });
}

int poise_trace_create(uint64_t num_places, const poise_machine* machine, poise_trace** trace) {
  return guarded(__func__, [&] {
    poise_trace*& result = required(trace, "trace");
    auto handle = std::make_unique<poise_trace>();
    handle->trace.num_places = poise::library::checked_count(num_places, "num_places");
    if (machine != nullptr) {
      handle->trace.machine = checked(machine, "machine").machine;
      if (num_places != handle->trace.machine->num_places())
        fail("num_places is {}, but the machine has {} places; both must be equal", num_places,
             handle->trace.machine->num_places());
    }
    result = handle.release();
  });
}

void poise_trace_destroy(poise_trace* trace) { poise::library::destroy(trace); }

int poise_trace_add_phase(poise_trace* trace, uint64_t id, double wall_s,
                          const poise_workload* workload, const uint32_t* place_of_task) {
  return guarded(__func__, [&] {
    poise::Trace& phases = checked(trace, "trace").trace;
    const poise::Workload& measured = checked(workload, "workload").workload;
    if (!std::isfinite(wall_s) || wall_s < 0)
      fail("wall_s is {}; it must be finite and at least 0", wall_s);
    if (!phases.phases.empty() && id <= phases.phases.back().id)
      fail("phase id {} follows phase id {}; the ids of phases must increase", id,
           phases.phases.back().id);
    check_all_but_messages(measured, phases.num_places);
    poise::Phase phase{
        .id = id, .wall_s = wall_s, .workload = measured, .placement = {}, .names = {}};
    if (place_of_task != nullptr)
      phase.placement = poise::library::placement_or_blocks(place_of_task, measured.num_tasks(),
                                                            phases.num_places, "place_of_task");
    phases.phases.push_back(std::move(phase));
  });
}

uint64_t poise_trace_num_phases(const poise_trace* trace) {
  uint64_t count = 0;
  guarded(__func__, [&] { count = checked(trace, "trace").trace.phases.size(); });
  return count;
}

uint64_t poise_trace_num_places(const poise_trace* trace) {
  uint64_t count = 0;
  guarded(__func__, [&] { count = checked(trace, "trace").trace.num_places; });
  return count;
}

int poise_trace_machine(const poise_trace* trace, poise_machine** machine) {
  return guarded(__func__, [&] {
    poise_machine*& result = required(machine, "machine");
    const auto& recorded = checked(trace, "trace").trace.machine;
    if (!recorded) fail("the trace records no machine; create one with poise_machine_create");
    auto handle = std::make_unique<poise_machine>();
    handle->machine = with_formula(*recorded, poise::CostFormula::physical);  // as files
    result = handle.release();
  });
}

int poise_trace_phase(const poise_trace* trace, uint64_t phase, uint64_t* id, double* wall_s,
                      poise_workload** workload) {
  return guarded(__func__, [&] {
    const poise::Phase& found = phase_of(trace, phase);
    poise_workload*& result = required(workload, "workload");
    auto handle = std::make_unique<poise_workload>();
    handle->workload = found.workload;
    if (id != nullptr) *id = found.id;
    if (wall_s != nullptr) *wall_s = found.wall_s;
    result = handle.release();
  });
}

int poise_trace_places(const poise_trace* trace, uint64_t phase, uint32_t* place_of_task) {
  return guarded(__func__, [&] {
    const poise::Phase& found = phase_of(trace, phase);
    if (found.placement.num_tasks() == 0)
      fail("phase {} records no placement, so the places of its tasks are unknown", found.id);
    std::copy(found.placement.places().begin(), found.placement.places().end(),
              &required(place_of_task, "place_of_task"));
  });
}

int poise_arrays_create(const poise_machine* machine, const poise_workload* workload,
                        const uint32_t* current, uint64_t seed, poise_arrays** arrays) {
  return guarded(__func__, [&] {
    poise_arrays*& result = required(arrays, "arrays");
    const poise_workload& measured = checked(workload, "workload");
    const poise::Machine none;
    const poise::Machine& places = machine == nullptr ? none : checked(machine, "machine").machine;
    poise::Placement now;
    if (current != nullptr)
      now = poise::library::placement_or_blocks(
          current, measured.workload.num_tasks(),
          machine == nullptr ? UINT32_MAX : places.num_places(), "current");
    check_places(measured.workload,
                 machine == nullptr ? std::nullopt : std::optional(places.num_places()));
    auto handle = std::make_unique<poise_arrays>(poise::Problem{
        places, measured.workload, now, places.costs(), seed, measured.past_loads_s});
    if (machine == nullptr) without_machine(handle->view, measured.workload);
    result = handle.release();
  });
}

void poise_arrays_destroy(poise_arrays* arrays) { poise::library::destroy(arrays); }

const struct poise_problem* poise_arrays_problem(const poise_arrays* arrays) {
  const struct poise_problem* problem = nullptr;
  guarded(__func__, [&] { problem = &checked(arrays, "arrays").view; });
  return problem;
}
