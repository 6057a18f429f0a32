// SPDX-License-Identifier: BSD-3-Clause
// Measures a replay by the event engine for given numbers of places, objects and steps. Prints CPU
// seconds and the largest memory of the process as JSON.
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <sys/resource.h>

#include "poise/base/clock.h"
#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/placement.h"
#include "poise/simulate/replay.h"
#include "poise/workload/generate.h"

namespace {

using namespace poise;

/// Places objects in blocks, and moves a tenth of them to random places.
Placement mostly_blocked(TaskId objects, std::uint32_t places) {
  Random random(1);
  Placement placement = blocked(objects, places);
  for (TaskId t = 0; t < objects; ++t)
    if (random.below(10) == 0) placement.move(t, random.below(places));
  return placement;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7 || argc > 8) {
    std::fputs(
        "usage: engine_speed MACHINE KIND OBJECTS STEPS steady|drifting fluid|queue [PRECISION]\n",
        stderr);
    return 2;
  }
  const Machine machine = with_formula(machine_from_text(argv[1]), CostFormula::physical);
  const TaskId objects = std::strtoul(argv[3], nullptr, 10);
  Trace trace;
  trace.phases.resize(1);
  trace.phases[0].workload = generate(parse_recipe(argv[2]), objects, 1)[0];
  const TaskId tasks = trace.phases[0].workload.num_tasks();
  const std::size_t messages = trace.phases[0].workload.messages.size();
  ReplayPlan plan{.steps = std::strtoul(argv[4], nullptr, 10)};
  plan.events = EngineOptions{.sharing = sharing_named(argv[6])};
  if (argc == 8) plan.events->precision = std::atof(argv[7]);
  if (std::string(argv[5]) == "drifting") plan.loads = parse_load_model("drift");
  const double made_s = process_cpu_now_s();
  const Replayer replayer(std::move(trace), machine, mostly_blocked(tasks, machine.num_places()),
                          plan);
  const double ready_s = process_cpu_now_s();
  const Replay replay = replayer.run({});
  const double run_s = process_cpu_now_s() - ready_s;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const nlohmann::ordered_json row{{"machine", argv[1]},
                                   {"places", machine.num_places()},
                                   {"program", argv[2]},
                                   {"objects", tasks},
                                   {"messages", messages},
                                   {"steps", plan.steps},
                                   {"loads", argv[5]},
                                   {"sharing", argv[6]},
                                   {"run_s", run_s},
                                   {"prepare_s", ready_s - made_s},
                                   {"max_memory_bytes", usage.ru_maxrss * 1024},
                                   {"iteration_s", replay.iteration_s / double(plan.steps)},
                                   {"formula_s", replay.formula_s / double(plan.steps)}};
  std::puts(row.dump().c_str());
  return 0;
}
