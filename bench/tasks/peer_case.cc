// SPDX-License-Identifier: BSD-3-Clause

#include "bench/tasks/peer_case.h"

#include <iostream>
#include <mpi.h>

#include "bench/tasks/timed_work.h"
#include "miniapps/arguments.h"

#include "poise/base/random.h"

namespace poise::bench {

std::optional<int> PeerCase::parse(int argc, char** argv, const char* summary,
                                   const char* program) {
  miniapps::Arguments arguments(summary, program);
  arguments.add("--tasks", tasks, "number of tasks of rank 0", 1, 100000000);
  arguments.add("--us", us, "mean length of a task in microseconds", 0, 1e9);
  arguments.add("--spread", spread, "largest deviation from the mean length, as a fraction of it",
                0, 1);
  arguments.add("--in", bytes_in, "bytes that a task reads", 1, 1ULL << 30);
  arguments.add("--out", bytes_out, "bytes that a task writes", 1, 1ULL << 30);
  arguments.add("--repeats", repeats, "number of runs of each way to run the tasks", 1, 1000000);
  arguments.add_flag("--sleep", sleep,
                     "tasks sleep instead of computing, so ranks may outnumber cores");
  return arguments.status_after_parsing(argc, argv);
}

nlohmann::json PeerCase::row(int num_ranks,
                             const std::map<std::string, std::vector<double>>& seconds) const {
  return {{"np", num_ranks},      {"tasks", tasks},         {"us", us},       {"spread", spread},
          {"bytes_in", bytes_in}, {"bytes_out", bytes_out}, {"sleep", sleep}, {"seconds", seconds}};
}

[[gnu::noinline]] void compute_task(std::span<const char> in, std::span<char> out, double us) {
  compute_us(us);
  out[0] = in[0];
}

void sleep_task(std::span<const char> in, std::span<char> out, double us) {
  sleep_us(us);
  out[0] = in[0];
}

PeerTasks tasks_of(const PeerCase& what, bool has_tasks) {
  PeerTasks tasks{what.bytes_in, what.bytes_out, {}, {}};
  if (!has_tasks) return tasks;
  tasks.data.resize((what.bytes_in + what.bytes_out) * static_cast<std::size_t>(what.tasks));
  Random random(1);
  for (int t = 0; t < what.tasks; ++t)
    tasks.us.push_back(what.us * random.uniform(1 - what.spread, 1 + what.spread));
  for (std::size_t t = 0; t < tasks.size(); ++t) tasks.in(t)[0] = static_cast<char>(t % 101 + 1);
  return tasks;
}

void check(PeerTasks& tasks, const std::string& way) {
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (tasks.out(t)[0] != tasks.in(t)[0]) {
      std::cerr << "the result of task " << t << " by " << way << " is wrong\n";
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    tasks.out(t)[0] = 0;
  }
}

}  // namespace poise::bench
