// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/engine.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <numeric>
#include <utility>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "runtimes/objects/collectives.h"
#include "runtimes/objects/migration.h"
#include "runtimes/objects/own_measurements.h"
#include "runtimes/objects/pages.h"
#include "runtimes/objects/step_offload.h"
#include "runtimes/objects/tuning.h"
#include "runtimes/objects/when_to_balance.h"
#include "runtimes/tasks/start/end_job.h"
#include "runtimes/tasks/start/start.h"

#include "poise/placement/initial.h"

namespace poise::objects {

namespace {

MPI_Comm duplicate(MPI_Comm comm) {
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(comm, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_ARE_FATAL);  // the runtime checks no return values
  return own;
}

int threads_of(const CollectionOptions& options) {
#ifdef _OPENMP
  if (options.threads > 0) return options.threads;
  const char* const text = std::getenv("OMP_NUM_THREADS");
  if (text == nullptr || *text == '\0') return 1;
  // If OMP_NUM_THREADS is invalid, OpenMP would start a thread on every core. So in that case this
  // function returns 0, which check_threads() refuses.
  return std::atoi(text) > 0 ? omp_get_max_threads() : 0;
#else
  (void)options;
  return 1;
#endif
}

/// Ends the job if a rank has too few or too many threads. Collective.
void check_threads(MPI_Comm comm, const CollectionOptions& options) {
  std::string problem;
  if (std::clamp<int>(threads_of(options), 1, tasks::kMaxThreads) != threads_of(options))
    problem = fmt::format("{} is not allowed; a rank can have 1 to {} threads",
                          options.threads > 0
                              ? fmt::format("CollectionOptions::threads={}", options.threads)
                              : fmt::format("OMP_NUM_THREADS={}", std::getenv("OMP_NUM_THREADS")),
                          tasks::kMaxThreads);
  tasks::end_job_on_error(comm, problem);
}

/// Ends the job if the ranks have different numbers of places. Collective.
void check_places(MPI_Comm comm, const std::vector<int>& all) {
  const auto other = std::find_if(all.begin(), all.end(), [&](int p) { return p != all[0]; });
  std::string problem;
  if (other != all.end())
    problem = fmt::format(
        "POISE_PLACES=thread needs the same number of threads on all ranks, but rank 0 has {} and "
        "rank {} has {}; set OMP_NUM_THREADS to one value",
        all[0], other - all.begin(), *other);
  tasks::end_job_on_error(comm, problem);
}

/// Ends the job if the ranks have passed different numbers of objects. Otherwise they would lose
/// messages or wait for each other forever. Collective.
void check_num_objects(MPI_Comm comm, ObjectId num_objects) {
  double range[] = {1.0 * num_objects, -1.0 * num_objects};  // exact below 2^53
  max_over_ranks(comm, range);
  std::string problem;
  if (range[0] != -range[1])
    problem = fmt::format(
        "ranks pass from {} to {} objects to a collection; pass the same number on all ranks",
        -range[1], range[0]);
  tasks::end_job_on_error(comm, problem);
}

JobLayout layout_of(MPI_Comm comm, const CollectionOptions& options) {
  check_threads(comm, options);
  const std::vector<int> threads = allgather_rows(comm, std::vector<int>{threads_of(options)});
  if (options.place_per_thread) check_places(comm, threads);
  JobLayout layout =
      discover_layout(comm, {options.place_per_thread ? static_cast<std::uint32_t>(threads[0]) : 1,
                             options.ranks_per_host});
  if (!options.place_per_thread) set_threads(layout, threads);
  return layout;
}

CollectionOptions with_mode(CollectionOptions options, const JobLayout& layout) {
  options.mode = chosen_mode(layout, options);
  return options;
}

ObjectDirectory directory_of(MPI_Comm comm, const JobLayout& layout, ObjectId num_objects,
                             const CollectionOptions& options) {
  check_num_objects(comm, num_objects);
  const std::uint32_t num_places = layout.machine.num_places();
  if (options.mode != Mode::hierarchical)
    return {layout, initial_placement(options.placement, num_objects, num_places, options.seed)};
  GhostDirectory ghosts(num_objects, layout.position_of(layout.rank), layout.num_ranks);
  visit_initial_placement(options.placement, num_objects, num_places, options.seed,
                          [&](ObjectId id, PlaceId place) {
                            ghosts.add_initial(id, layout.position_of(layout.rank_of(place)));
                          });
  return {layout, num_objects, std::move(ghosts)};
}

/// Runs a part of a decision. If the part throws an Error, ends the job with one line that says
/// why. The program could not handle the Error, because the other ranks wait for this rank.
template <typename Part>
auto or_end_job(const Part& part) {
  try {
    return part();
  } catch (const Error& error) {
    tasks::end_job(error.what());
  }
}

bool is_mpi_finalized() {
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  return is_finalized != 0;
}

}  // namespace

Engine::Engine(MPI_Comm comm, ObjectId num_objects, ObjectFactory factory,
               const CollectionOptions& options)
    : comm_(duplicate(comm)),
      layout_(layout_of(comm_, options)),
      options_(with_mode(options, layout_)),
      factory_(std::move(factory)),
      num_threads_(threads_of(options)),
      directory_(directory_of(comm_, layout_, num_objects, options_)),
      objects_(options.place_per_thread ? layout_.own_places() : std::vector<PlaceId>()),
      guard_(comm_, options.name, meter_.num_steps()),
      packer_(factory_, guard_),
      messenger_(comm_, options.max_piece_bytes),
      messages_(messenger_),
      communication_(comm_, layout_, messenger_),
      ranks_(communication_.table()),
      decider_(comm_, ranks_, directory_, options_, layout_.threads_per_place),
      files_(comm_, options_, layout_) {
  create_runner();
  create_objects();
  begin_phase();
}

Engine::~Engine() {
  const bool is_unwinding = std::uncaught_exceptions() > exceptions_;
  if (is_mpi_finalized() || is_unwinding)
    static_cast<void>(runner_.release());  // the destructor would wait for the other ranks
  if (is_mpi_finalized()) {
    if (files_.is_incomplete())
      files_.warn(options_.name +
                  " were destroyed after MPI_Finalize, so the trace or timeline is incomplete; "
                  "destroy them before MPI_Finalize");
    return;
  }
  if (!is_unwinding) finish();
  runner_.reset();
  MPI_Comm_free(&comm_);
}

void Engine::create_runner() {
  for (int t = 0; t < num_threads_; ++t) workers_.push_back(std::make_unique<Worker>(directory_));
  if (options_.lend) create_offloading_runner();
  if (!runner_) runner_ = std::make_unique<ThreadedSteps>(step_parts(), options_.place_per_thread);
}

/// Creates a runner that offloads steps. Its constructor also reports invalid settings, so even a
/// job with a single rank creates the runner, but then destroys it, because a single rank cannot
/// offload anything.
void Engine::create_offloading_runner() {
  workers_.push_back(std::make_unique<Worker>(directory_));
  std::string problem;
  try {
    runner_ = std::make_unique<OffloadedSteps>(comm_, step_parts(), directory_, packer_);
  } catch (const Error& error) {  // thrown on all ranks
    problem = fmt::format("POISE_LEND=1: {}", error.what());
  }
  tasks::end_job_on_error(comm_, problem);
  if (layout_.num_ranks > 1) return;
  runner_.reset();
  workers_.pop_back();
}

void Engine::create_objects() {
  std::vector<LocalObject> created;
  std::vector<PlaceId> places;
  visit_initial_placement(options_.placement, num_objects(), layout_.machine.num_places(),
                          options_.seed, [&](ObjectId id, PlaceId place) {
                            if (layout_.rank_of(place) != layout_.rank) return;
                            places.push_back(place);
                            LocalObject& object = created.emplace_back();
                            object.id = id;
                            guard_.run(id, [&] { object.object = factory_.create(id); });
                          });
  objects_.update(std::move(created), places);
}

void Engine::begin_phase() {
  recorder_ = std::make_unique<Recorder>(num_objects(), layout_.machine.num_places());
  for (const auto& worker : workers_) worker->log = &recorder_->add_thread();
  meter_.begin_phase(objects_);
  next_check_ = first_check();
}

void Engine::step() {
  const double start_s = wall_now_s();
  if (options_.subphase_of_step)
    meter_.enter_subphase(options_.subphase_of_step(num_steps()), objects_);
  runner_->run();
  const std::vector<double> work_ends_s = runner_->work_ends_s();
  const auto [wait_s, deliver_s] = messages_.exchange(workers_, objects_, directory_);
  meter_.add_idle(wait_s);
  meter_.add_background(deliver_s);
  const double end_s = wall_now_s();
  meter_.end_step(end_s - start_s);
  files_.timeline().add_step(start_s, work_ends_s, end_s);
  balance_if_due();
}

void Engine::balance_if_due() {
  if (options_.period > 0) {
    if (num_steps() % options_.period == 0) balance();
  } else if (options_.is_automatic) {
    if (is_worth_it()) balance();
  } else if (files_.wants_phases() && meter_.phase().steps == tuning::kStepsOfTracedPhase) {
    record_phase();
  }
}

/// Collects from all ranks the arguments of when_to_balance(), and calls this function.
bool Engine::is_worth_it() {
  if (meter_.phase().steps < next_check_) return false;
  std::vector<double> busiest_s = meter_.busy_s(objects_, num_threads_);
  if (options_.subphase_of_step) {  // ranks may have seen different subphases
    double num_subphases = static_cast<double>(busiest_s.size());
    max_over_ranks(comm_, {&num_subphases, 1});
    busiest_s.resize(static_cast<std::size_t>(num_subphases));
  }
  const RankTimes& phase = meter_.phase();
  const int background_threads = options_.place_per_thread ? 1 : num_threads_;
  double sums[] = {phase.own_load_s + phase.background_s * background_threads,
                   static_cast<double>(num_threads_)};
  max_over_ranks(comm_, busiest_s);
  sum_over_ranks(comm_, sums);
  const BalanceVerdict verdict =
      when_to_balance({.steps = meter_.phase().steps,
                       .busiest_s = std::accumulate(busiest_s.begin(), busiest_s.end(), 0.0),
                       .average_s = sums[0] / sums[1],
                       .total_steps = num_steps(),
                       .expected_steps = options_.expected_steps,
                       .reachable_imbalance = reachable_imbalance_,
                       .cost_s = last_cost_s_});
  next_check_ = verdict.next_check;
  return verdict.balance_now;
}

Measurements Engine::measure() {
  const PlaceId first_place = layout_.own_places()[0];
  Measurements own = own_measurements(objects_, first_place, meter_,
                                      recorder_->end_recording(thread_cpu_now_s()), guard_);
  to_speed_1(own, first_place, layout_.core_speeds);
  return own;
}

/// Ends the trace's current phase without a decision: records the steps since the last phase.
void Engine::record_phase() {
  const Measurements own = measure();
  or_end_job([&] {
    const Measurements all = gather_measurements(comm_, own, 0);
    if (layout_.rank == 0)
      files_.add_phase(phase_of(all, num_objects(), layout_.machine.num_places(),
                                options_.clock == Clock::wall, layout_.threads_per_place),
                       meter_.phase().wall_s);
  });
  begin_phase();
}

BalanceResult Engine::balance() {
  const double start_s = wall_now_s();
  const Measurements before = measure();
  Decision decision = or_end_job([&] { return decider_.decide(before); });
  if (!decision.failure.empty()) files_.warn_of_strategy(decision.failure);
  if (decision.phase && files_.wants_phases())
    files_.add_phase(*decision.phase, meter_.phase().wall_s);
  const double decided_s = wall_now_s();

  BalanceResult result{.step = num_steps(),
                       .imbalance_before = decision.imbalance_before,
                       .imbalance_after = decision.imbalance_after};
  result.migrations = decision.plan.num_migrations;
  result.migrated_bytes = migrate(decision.plan, packer_, objects_, messenger_, messages_);
  for (LocalObject& object : objects_)
    guard_.run(object.id, [&] { bring_pages(object.object->memory()); });
  update_directory(decision, before);
  const double end_s = wall_now_s();
  result.decision_s = decided_s - start_s;
  result.migration_s = end_s - decided_s;
  files_.timeline().add_balancing(start_s, end_s);
  add_result(result);
  begin_phase();
  return result;
}

/// `before` has the messages that the objects sent before they migrated.
void Engine::update_directory(const Decision& decision, const Measurements& before) {
  GhostDirectory* const ghosts = directory_.ghosts();
  if (ghosts == nullptr) return directory_.update(decision.placement);
  if (decision.plan.num_migrations == 0) return;
  std::map<std::uint32_t, std::vector<ObjectId>> leaving;
  for (const auto& [rank, ids] : decision.plan.leaving) leaving[layout_.position_of(rank)] = ids;
  std::vector<ObjectId> own;
  for (const LocalObject& object : objects_) own.push_back(object.id);
  ghosts->update(ranks_, leaving, before.messages, own);
}

/// Sums the migrated bytes of all ranks, and keeps the results of this decision for
/// when_to_balance().
void Engine::add_result(BalanceResult& result) {
  double bytes = result.migrated_bytes;
  sum_over_ranks(comm_, {&bytes, 1});
  result.migrated_bytes = static_cast<std::uint64_t>(bytes);
  const double own_cost_s = result.decision_s + result.migration_s;
  last_cost_s_ = own_cost_s;
  max_over_ranks(comm_, {&last_cost_s_, 1});
  reachable_imbalance_ = result.imbalance_after;
  meter_.add_balancing(own_cost_s);
  balancing_.migrations += result.migrations;
  balancing_.migrated_bytes += result.migrated_bytes;
  balancing_.decision_s += result.decision_s;
  balancing_.migration_s += result.migration_s;
  files_.add_result(result);
}

void Engine::finish() {
  if (files_.wants_phases() && meter_.phase().steps > 0) record_phase();
  files_.finish_trace();
  files_.finish_timeline();
}

}  // namespace poise::objects
