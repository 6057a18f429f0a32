// Droplets: a real computation on threads, recorded as a trace.
//
// Every cell of the box is a task; its places are the threads. After each phase, a strategy may
// place the cells anew. The result is compared with a run on one thread before anything is
// written, bit by bit, and momentum must not have changed.
#include <CLI/CLI.hpp>
#include <barrier>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fmt/core.h>
#include <functional>
#include <thread>

#include "miniapps/droplets/world.h"

#include "poise/base/error.h"
#include "poise/machine/find.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/strategy.h"
#include "poise/trace/trace.h"
#include "poise/workload/recorder.h"

namespace poise::droplets {

namespace {

struct Options {
  std::uint32_t side = 8, particles = 10000, threads = 0, phases = 8, steps = 5;
  std::uint64_t seed = 1;
  std::string strategy = "keep", output;
};

double thread_cpu_s() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double wall_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Runs the world on threads, phase by phase, and keeps what they did as a trace.
class Run {
 public:
  Run(const Options& options, const Choice& choice, Trace& trace)
      : options_(options),
        choice_(choice),
        trace_(trace),
        world_(options.side, options.particles, options.seed),
        recorder_(std::vector<Task>(world_.num_cells()), trace.num_places),
        placement_(blocked(world_.num_cells(), trace.num_places)),
        barrier_(trace.num_places) {}

  void run() {
    std::vector<std::thread> threads;
    for (PlaceId place = 0; place < trace_.num_places; ++place)
      threads.emplace_back([this, place] { work(place); });
    for (std::thread& thread : threads) thread.join();
  }

  const World& world() const { return world_; }

 private:
  using Stage = std::function<void(std::uint32_t, std::vector<Sent>&)>;

  /// One thread: its cells, stage by stage. Loads are CPU time, which other programs on the machine
  /// do not disturb.
  void work(PlaceId place) {
    Recorder::Log& log = recorder_.add_thread();
    barrier_.arrive_and_wait();
    for (std::uint32_t phase = 0; phase < options_.phases; ++phase) {
      const double start_s = wall_s();
      for (std::uint32_t step = 0; step < options_.steps; ++step) {
        each_cell(place, log, [this](auto c, auto& sent) { world_.publish(c, sent); });
        each_cell(place, log, [this](auto c, auto& sent) { world_.advance(c, sent); });
        each_cell(place, log, [this](auto c, auto&) { world_.absorb(c); });
      }
      if (place == 0) end_phase(phase, wall_s() - start_s);
      barrier_.arrive_and_wait();
    }
  }

  void each_cell(PlaceId place, Recorder::Log& log, const Stage& stage) {
    std::vector<Sent> sent;
    double now_s = thread_cpu_s();
    for (std::uint32_t c = 0; c < world_.num_cells(); ++c) {
      if (placement_.of(c) != place) continue;
      log.begin(c, now_s);
      sent.clear();
      stage(c, sent);
      for (const auto& [to, bytes] : sent) log.message(c, to, bytes);
      now_s = thread_cpu_s();
      log.end(c, now_s);
    }
    barrier_.arrive_and_wait();
  }

  void end_phase(std::uint32_t id, double seconds) {
    Phase phase;
    phase.id = id;
    phase.wall_s = seconds;
    phase.workload = recorder_.end_phase(0);
    phase.placement = placement_;
    for (std::uint32_t c = 0; c < world_.num_cells(); ++c) {
      phase.workload.tasks[c].bytes = world_.cell(c).particles.size() * sizeof(Particle);
      phase.workload.positions.push_back(world_.centre_of(c));
    }
    const Machine& machine = *trace_.machine;
    placement_ = choice_.rebalance(
        {machine, phase.workload, placement_, machine.costs(), options_.seed, past_loads_s_});
    past_loads_s_.emplace_back();
    for (const Task& task : phase.workload.tasks) past_loads_s_.back().push_back(task.load_s);
    trace_.phases.push_back(std::move(phase));
  }

  const Options& options_;
  const Choice& choice_;
  Trace& trace_;
  World world_;
  Recorder recorder_;
  Placement placement_;
  std::vector<std::vector<double>> past_loads_s_;
  std::barrier<> barrier_;
};

World run_serially(const Options& options) {
  World world(options.side, options.particles, options.seed);
  std::vector<Sent> ignored;
  for (std::uint32_t step = 0; step < options.phases * options.steps; ++step) {
    for (std::uint32_t c = 0; c < world.num_cells(); ++c) world.publish(c, ignored);
    for (std::uint32_t c = 0; c < world.num_cells(); ++c) world.advance(c, ignored);
    for (std::uint32_t c = 0; c < world.num_cells(); ++c) world.absorb(c);
    ignored.clear();
  }
  return world;
}

/// Throws when the threads computed something else than one thread alone, or momentum changed.
void verify(const World& world, const Options& options) {
  if (!(world == run_serially(options)))
    throw std::runtime_error("the threads' result differs from that of one thread");
  const Vector before = World(options.side, options.particles, options.seed).momentum();
  const Vector after = world.momentum();
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (std::fabs(after[axis] - before[axis]) > 1e-10 * world.speed_sum())
      throw std::runtime_error(
          fmt::format("momentum changed from {} to {}", before[axis], after[axis]));
}

Machine machine_for(std::uint32_t threads) {
  Machine live = live_machine();
  if (threads == 0 || threads == live.num_places()) return live;
  fmt::print(stderr, "droplets: {} threads on {} places: the trace gets a flat machine\n", threads,
             live.num_places());
  return flat_machine(threads);
}

void print_phases(const Trace& trace) {
  fmt::print("{:>5} {:>10} {:>10} {:>10} {:>12}\n", "phase", "wall s", "makespan s", "imbalance",
             "migrations");
  const Placement* before = &trace.phases.front().placement;
  for (const Phase& phase : trace.phases) {
    const Metrics metrics =
        evaluate(*trace.machine, phase.workload, trace.machine->costs(), *before, phase.placement);
    fmt::print("{:>5} {:>10.4f} {:>10.4f} {:>10.3f} {:>12}\n", phase.id, phase.wall_s,
               metrics.makespan_s, metrics.imbalance, metrics.migrations);
    before = &phase.placement;
  }
}

void run(const Options& options) {
  const Choice choice = parse_strategy(options.strategy);
  Trace trace;
  trace.machine = machine_for(options.threads);
  trace.num_places = trace.machine->num_places();
  Run parallel(options, choice, trace);
  parallel.run();
  verify(parallel.world(), options);
  print_phases(trace);
  fmt::print(
      "{} cells, {} particles, {} steps on {} threads: as one thread computes it, momentum "
      "conserved\n",
      parallel.world().num_cells(), options.particles, options.phases * options.steps,
      trace.num_places);
  if (!options.output.empty()) write_trace(trace, options.output);
}

}  // namespace

}  // namespace poise::droplets

int main(int argc, char** argv) {
  poise::droplets::Options options;
  CLI::App app("Droplets of particles in a box of cells, computed by threads and recorded.",
               "droplets");
  app.add_option("-o,--output", options.output, "write the trace here")->type_name("TRACE");
  app.add_option("--strategy", options.strategy, "balances after every phase (default: keep)")
      ->type_name("S");
  app.add_option("--threads", options.threads, "default: the places of this machine")
      ->check(CLI::Range(1, 1024));
  app.add_option("--side", options.side, "the box has side^3 cells (default: 8)")
      ->check(CLI::Range(3, 64));
  app.add_option("--particles", options.particles, "default: 10000")
      ->check(CLI::Range(1, 10000000));
  app.add_option("--phases", options.phases, "default: 8")->check(CLI::Range(1, 10000));
  app.add_option("--steps", options.steps, "steps per phase (default: 5)")
      ->check(CLI::Range(1, 10000));
  app.add_option("--seed", options.seed, "default: 1");
  try {
    app.parse(argc, argv);
    poise::droplets::run(options);
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "droplets: {}\n", error.what());
    return 2;
  } catch (const poise::Error& error) {
    fmt::print(stderr, "droplets: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "droplets: failed: {}\n", error.what());
    return 1;
  }
}
