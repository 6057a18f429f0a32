// SPDX-License-Identifier: BSD-3-Clause
// Runs steps whose ranks lend tasks, and measures their time. Tasks sleep, because there may be
// more ranks than cores.
//
// The input file has one JSON object per line. An object describes one step of all ranks:
//   {"name": TEXT, "tasks": [[RANK, SECONDS], ...], "bytes": N, "slowness": [FACTOR, ...]}
// RANK owns a task of SECONDS. `bytes` is the size of the data of a task, and also of its result. A
// task that runs on rank r takes SECONDS times entry r of `slowness`, which has an entry per rank.
// For each step, rank 0 prints {"name": TEXT, "iteration_s": [S, ...]}. All ranks must share a
// clock.
#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fmt/core.h>
#include <fstream>
#include <mpi.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <span>
#include <sys/prctl.h>
#include <unistd.h>

#include "miniapps/arguments.h"
#include "runtimes/tasks/context.h"

#include "poise/base/clock.h"
#include "poise/base/error.h"

namespace {

namespace tasks = poise::tasks;
using poise::wall_now_s;

// Before each step, the ranks agree on its start time. The start time is this many seconds in the
// future, so that every rank learns it in time.
constexpr double kStartMargin_s = 0.02;

struct Settings {
  std::string path;
  int rounds = 9, timeout_s = 600;
};

struct Step {
  std::string name;
  std::vector<double> own_s;  // seconds of each task of this rank
  std::size_t bytes = 0;
  double slowness = 1;  // of this rank
};

double slowness_here = 1;

void sleep_until(double when_s) {
  timespec when{static_cast<time_t>(when_s), 0};
  when.tv_nsec = static_cast<long>((when_s - when.tv_sec) * 1e9);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) == EINTR) {
  }
}

const auto kSleep =
    tasks::function("sleep", [](std::span<const char>, std::span<char>, double seconds) {
      sleep_until(wall_now_s() + seconds * slowness_here);
    });

// A reduction in which waiting ranks sleep instead of spinning, so that other ranks can use their
// cores.
double max_of_all(double value) {
  double greatest = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&value, &greatest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request);
  for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), done == 0;)
    sleep_until(wall_now_s() + 1e-3);
  return greatest;
}

std::vector<Step> read_steps(const std::string& path, int rank) {
  std::ifstream file(path);
  if (!file) throw poise::Error(fmt::format("{}: cannot be read", path));
  std::vector<Step> steps;
  for (std::string line; std::getline(file, line);) {
    const auto json = nlohmann::json::parse(line);
    Step& step = steps.emplace_back();
    step.name = json.at("name");
    step.bytes = json.at("bytes");
    step.slowness = json.at("slowness").at(rank);
    for (const auto& task : json.at("tasks"))
      if (task.at(0) == rank) step.own_s.push_back(task.at(1));
  }
  return steps;
}

// Runs one step. Returns the seconds from its start until the last rank has returned from wait().
double time_once(tasks::Context& context, const Step& step, std::vector<char>& data) {
  slowness_here = step.slowness;
  data.resize(2 * step.bytes * step.own_s.size());
  const double start_s = max_of_all(wall_now_s()) + kStartMargin_s;
  sleep_until(start_s);
  for (std::size_t i = 0; i < step.own_s.size(); ++i) {
    const auto both = std::span(data).subspan(2 * step.bytes * i, 2 * step.bytes);
    context.submit(kSleep, tasks::in(both.first(step.bytes)), tasks::out(both.last(step.bytes)),
                   step.own_s[i]);
  }
  context.wait();
  return max_of_all(wall_now_s() - start_s);
}

void run(const Settings& settings) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::vector<Step> steps = read_steps(settings.path, rank);
  alarm(settings.timeout_s);
  // Reduces the timer slack and raises the priority of this thread; threads that it creates later
  // inherit both. Ranks sleep nearly always; with the higher priority they do not wait for other
  // programs when they wake up. A rank without the permission to raise its priority keeps the
  // usual one.
  prctl(PR_SET_TIMERSLACK, 1);
  const sched_param priority{.sched_priority = 1};
  sched_setscheduler(0, SCHED_RR, &priority);
  for (const Step& step : steps) {
    tasks::Context context(MPI_COMM_WORLD, {1, ""});
    std::vector<char> data;
    time_once(context, step, data);  // a warm-up in which lending learns the times of tasks
    std::vector<double> taken_s;
    for (int round = 0; round < settings.rounds; ++round)
      taken_s.push_back(time_once(context, step, data));
    if (rank == 0)
      fmt::print("{}\n", nlohmann::json{{"name", step.name}, {"iteration_s", taken_s}}.dump());
  }
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  poise::miniapps::Arguments arguments("Times steps whose ranks lend tasks", "trust_lending");
  arguments.add("--steps", settings.path, "file with one JSON object per line");
  arguments.add("--rounds", settings.rounds, "number of runs of each step", 1, 10000);
  arguments.add("--timeout-s", settings.timeout_s, "time after which the program gives up", 1,
                100000);
  if (const auto status = arguments.status_after_parsing(argc, argv)) return *status;
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int status = 0;
  try {
    run(settings);
  } catch (const std::exception& error) {
    fmt::print(stderr, "trust_lending: {}\n", error.what());
    status = 2;
    MPI_Abort(MPI_COMM_WORLD, status);
  }
  MPI_Finalize();
  return status;
}
