#include "runtimes/objects/engine.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "runtimes/objects/collect.h"
#include "runtimes/objects/lender.h"
#include "runtimes/objects/thread.h"

#include "poise/placement/initial.h"
#include "poise/placement/subphases.h"

namespace poise::objects {

namespace {

constexpr const char* kOddity = "it threw something that is no std::exception";

MPI_Comm duplicate(MPI_Comm comm) {
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(comm, &own);
  return own;
}

int threads_of(const Options& options) {
#ifdef _OPENMP
  if (options.threads > 0) return static_cast<int>(options.threads);
  return std::getenv("OMP_NUM_THREADS") != nullptr ? omp_get_max_threads() : 1;
#else
  (void)options;
  return 1;
#endif
}

int own_thread() {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

/// All ranks stop when rank 0 is in trouble, with one line and without a hang.
void stop_if(MPI_Comm comm, std::string trouble) {
  trouble = broadcast(comm, std::move(trouble));
  if (trouble.empty()) return;
  int rank = 0, similarity = MPI_UNEQUAL;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) std::fprintf(stderr, "poise: %s\n", trouble.c_str());
  MPI_Comm_compare(comm, MPI_COMM_WORLD, &similarity);
  if (similarity == MPI_UNEQUAL) MPI_Abort(comm, 2);  // others would wait in MPI_Finalize
  MPI_Barrier(comm);
  MPI_Finalize();
  std::exit(2);
}

/// What cannot be written at the end is said at the start.
void try_timeline(const std::string& path) {
  try {
    if (!path.empty()) write_timeline({}, path);
  } catch (const Error& error) {
    fail("POISE_TIMELINE: {}", error.what());
  }
}

template <typename Archive>
void visit_options(Archive& archive, Options& o) {
  archive(o.name, o.strategy, o.period, o.is_automatic, o.expected_steps, o.placement, o.clock,
          o.mode, o.trace, o.timeline, o.log, o.budget_s, o.threads, o.place_per_thread,
          o.ranks_per_host, o.lend, o.seed, o.max_piece_bytes);
}

}  // namespace

Options agreed_options(MPI_Comm comm, const Options& options) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  Options agreed = options;
  std::string trouble;
  std::vector<std::byte> bytes;
  try {
    if (rank == 0)
      agreed = with_environment(
          options, [](const char* name) { return static_cast<const char*>(std::getenv(name)); });
  } catch (const Error& error) {
    trouble = error.what();
  }
  stop_if(comm, trouble);
  if (rank == 0) {
    Buffer buffer;
    Writer writer(buffer);
    visit_options(writer, agreed);
    bytes.assign(buffer.data(), buffer.data() + buffer.size());
  }
  from_root(comm, bytes);
  Reader reader(bytes);
  visit_options(reader, agreed);
  return agreed;
}

Engine::Engine(MPI_Comm comm, ObjectId num_objects, Making making, const Options& options)
    : comm_(duplicate(comm)),
      options_(options),
      making_(std::move(making)),
      world_(discover_world(
          comm_, {options.place_per_thread ? static_cast<std::uint32_t>(threads_of(options)) : 1,
                  options.ranks_per_host})),
      num_threads_(threads_of(options)),
      placement_(initial_placement(options.placement, num_objects, world_.machine.num_places(),
                                   options.seed)),
      exchange_(comm_, options.max_piece_bytes),
      decider_(comm_, world_, options_, num_objects,
               options.place_per_thread ? 1 : static_cast<std::uint32_t>(num_threads_)),
      keeps_trace_(!options.trace.empty()),
      diary_(comm_, !options.timeline.empty(), world_.own_places()) {
  std::string trouble;
  try {
    if (world_.rank == 0) {
      try_timeline(options_.timeline);
      journal_ = std::make_unique<Journal>(options_.trace, options_.log, world_.machine);
    }
  } catch (const Error& error) {
    trouble = error.what();
  }
  stop_if(comm_, trouble);
  for (int t = 0; t < num_threads_; ++t) threads_.push_back(std::make_unique<Thread>(*this));
  if (options_.lend && world_.num_ranks > 1) {
    threads_.push_back(std::make_unique<Thread>(*this));
    lender_ = std::make_unique<Lender>(*this);
  }
  make_objects(making_);
  begin_phase();
}

Engine::~Engine() {
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (is_finalized != 0 || std::uncaught_exceptions() > 0)
    static_cast<void>(lender_.release());  // the other ranks may not be here to part from
  if (is_finalized != 0) {
    if (journal_ && (keeps_trace_ || !options_.timeline.empty()))
      warn(options_.name + " were still there after MPI_Finalize: what was recorded lacks its end");
    return;
  }
  if (std::uncaught_exceptions() == 0) finish();
  lender_.reset();
  MPI_Comm_free(&comm_);
}

void Engine::make_objects(const Making& making) {
  slot_of_.resize(num_objects());
  for (ObjectId id = 0; id < num_objects(); ++id) {
    if (rank_of(id) != world_.rank) continue;
    Slot& slot = slots_.emplace_back();
    slot.id = id;
    guard(id, [&] { slot.object = making.fresh(id); });
  }
  deal_out();
}

/// Finds the slots again after they changed.
void Engine::deal_out() {
  for (std::uint32_t s = 0; s < slots_.size(); ++s) slot_of_[slots_[s].id] = s;
  if (!options_.place_per_thread) return;
  slots_of_thread_.assign(static_cast<std::size_t>(num_threads_), {});
  const auto& places = world_.own_places();
  for (std::uint32_t s = 0; s < slots_.size(); ++s) {
    const auto place = std::find(places.begin(), places.end(), placement_.of(slots_[s].id));
    slots_of_thread_[static_cast<std::size_t>(place - places.begin())].push_back(s);
  }
}

void Engine::step() {
  const double start_s = wall_now_s();
  if (options_.subphase_of_step) find_subphase();
  run_objects();
  const std::vector<double> ends_s = work_ends_s();
  exchange_mail();
  ++num_steps_;
  ++steps_in_phase_;
  const double end_s = wall_now_s(), elapsed_s = end_s - start_s;
  diary_.step(start_s, ends_s, end_s);
  wall_s_ += elapsed_s;
  phase_wall_s_ += elapsed_s;
  balance_if_due();
}

void Engine::run_one(std::size_t s, Thread& thread) {
  Slot& slot = slots_[s];
  if (!thread.failure.empty()) return;
  Outbox outbox(thread, slot.id);
  thread.log->begin(slot.id, thread.cpu_s);
  try {
    slot.object->step(Inbox(slot.inbox), outbox);
  } catch (const std::exception& error) {
    thread.failed = slot.id;
    thread.failure = error.what();
  } catch (...) {
    thread.failed = slot.id;
    thread.failure = kOddity;
  }
  const double cpu_s = cpu_now_s(), wall_s = wall_now_s();
  thread.log->end(slot.id, cpu_s);
  charge(slot, cpu_s - thread.cpu_s, wall_s - thread.wall_s);
  thread.busy_cpu_s += cpu_s - thread.cpu_s;
  thread.busy_wall_s += wall_s - thread.wall_s;
  thread.cpu_s = cpu_s;
  thread.wall_s = wall_s;
}

void Engine::find_subphase() {
  subphase_ = options_.subphase_of_step(num_steps_);
  if (subphase_ >= kMaxSubphases)
    fail("objects: step {} of \"{}\" is of subphase {}; they are numbered from 0 to {}", num_steps_,
         options_.name, subphase_, kMaxSubphases - 1);
  num_subphases_ = std::max(num_subphases_, subphase_ + 1);
  for (Slot& slot : slots_) slot.subphase_s.resize(num_subphases_);
}

/// The object's last step took so long.
void Engine::charge(Slot& slot, double cpu_s, double wall_s) const {
  slot.wall_s += wall_s;
  if (num_subphases_ > 0)
    slot.subphase_s[subphase_] += options_.clock == Clock::wall ? wall_s : cpu_s;
}

/// Objects of a rank run on whichever thread is free, or on that of their place.
void Engine::run_objects() {
  if (lender_) {
    lender_->run_objects();
    return count_busy();
  }
  const auto num_lists = static_cast<int>(slots_of_thread_.size());
  const auto num_slots = static_cast<std::int64_t>(slots_.size());
#ifdef _OPENMP
#pragma omp parallel num_threads(num_threads_)
#endif
  {
    Thread& thread = *threads_[static_cast<std::size_t>(own_thread())];
    thread.begin();
    if (options_.place_per_thread) {
#ifdef _OPENMP
#pragma omp for schedule(static, 1)
#endif
      for (int list = 0; list < num_lists; ++list)
        for (const std::uint32_t s : slots_of_thread_[static_cast<std::size_t>(list)])
          run_one(s, thread);
    } else {
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 1)
#endif
      for (std::int64_t s = 0; s < num_slots; ++s) run_one(static_cast<std::size_t>(s), thread);
    }
  }
  count_busy();
}

void Engine::count_busy() {
  for (const auto& thread : threads_) {
    if (!thread->failure.empty()) abort(thread->failed, thread->failure);
    const double busy_s = options_.clock == Clock::wall ? thread->busy_wall_s : thread->busy_cpu_s;
    load_s_ += busy_s;
    phase_load_s_ += busy_s;
    phase_ran_s_ += busy_s;
    thread->busy_cpu_s = thread->busy_wall_s = 0;
  }
}

/// When each own place was done with its objects.
std::vector<double> Engine::work_ends_s() const {
  if (!options_.place_per_thread && !lender_) return {wall_now_s()};
  std::vector<double> ends_s;
  for (const auto& thread : threads_) ends_s.push_back(thread->wall_s);
  if (lender_) return {*std::max_element(ends_s.begin(), ends_s.end())};
  return ends_s;
}

/// What each thread wrote: for this rank into held_, the rest by rank. Their memory of the step
/// before is theirs again.
std::vector<Parcel> Engine::collect_mail() {
  std::vector<Parcel> out(static_cast<std::size_t>(world_.num_ranks)), before = std::move(held_);
  held_.clear();
  before.resize(std::max(before.size(), threads_.size()));
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    std::vector<Parcel>& parcels = threads_[t]->parcels();
    for (std::size_t rank = 0; rank < out.size(); ++rank) {
      if (static_cast<int>(rank) == world_.rank) {
        held_.push_back(std::exchange(parcels[rank], std::move(before[t])));
      } else if (out[rank].empty()) {
        std::swap(out[rank], parcels[rank]);
      } else {
        const auto letters = parcels[rank].content();
        out[rank].open().append(letters.data(), letters.size());
      }
      parcels[rank].clear();
    }
  }
  before.erase(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(threads_.size()));
  for (Parcel& parcel : before) parcel.clear();
  exchange_.reuse(std::move(before));
  return out;
}

void Engine::exchange_mail() {
  std::vector<Parcel> out = collect_mail();
  const double start_s = wall_now_s();
  if (world_.num_ranks > 1)
    for (auto& [from, parcel] : exchange_.all(out)) held_.push_back(std::move(parcel));
  const double waited_s = wall_now_s() - start_s, cpu_s = cpu_now_s();
  idle_s_ += waited_s;
  total_idle_s_ += waited_s;
  for (std::size_t rank = 0; rank < out.size(); ++rank) {
    if (static_cast<int>(rank) == world_.rank) continue;
    out[rank].clear();
    threads_[0]->parcels()[rank] = std::move(out[rank]);
  }

  for (Slot& slot : slots_) slot.inbox.clear();
  for (const Parcel& parcel : held_) deliver(parcel.content());
  const auto by_sender = [](const Mail& a, const Mail& b) { return a.from() < b.from(); };
  for (Slot& slot : slots_)
    if (!std::is_sorted(slot.inbox.begin(), slot.inbox.end(), by_sender))
      std::stable_sort(slot.inbox.begin(), slot.inbox.end(), by_sender);
  background_s_ += cpu_now_s() - cpu_s;
}

void Engine::deliver(std::span<const std::byte> letters) {
  while (!letters.empty()) {
    const Letter letter = next_letter(letters);
    for (const ObjectId to : letter.to)
      slots_[slot_of_[to]].inbox.emplace_back(letter.from, letter.payload);
  }
}

std::vector<std::pair<ObjectId, Hosted*>> Engine::own_objects() const {
  std::vector<std::pair<ObjectId, Hosted*>> objects;
  for (const Slot& slot : slots_) objects.emplace_back(slot.id, slot.object.get());
  return objects;
}

Totals Engine::totals() {
  double sums[] = {load_s_, total_idle_s_, static_cast<double>(num_threads_), phase_ran_s_};
  double most[] = {wall_s_,          load_s_,      sum_.decision_s,
                   sum_.migration_s, phase_ran_s_, phase_wall_s_};
  to_sum(comm_, sums);
  to_largest(comm_, most);
  return {.steps = num_steps_,
          .wall_s = most[0],
          .load_s = sums[0],
          .busiest_s = most[1],
          .idle_s = sums[1],
          .efficiency = most[0] > 0 ? sums[0] / (most[0] * sums[2]) : 1,
          .migrations = sum_.migrations,
          .migrated_bytes = sum_.migrated_bytes,
          .decision_s = most[2],
          .migration_s = most[3],
          .phase_steps = steps_in_phase_,
          .phase_wall_s = most[5],
          .phase_efficiency = most[5] > 0 ? sums[3] / (most[5] * sums[2]) : 1,
          .phase_imbalance = sums[3] > 0 ? most[4] * world_.num_ranks / sums[3] : 1};
}

void Engine::guard(ObjectId id, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    abort(id, error.what());
  } catch (...) {
    abort(id, kOddity);
  }
}

void Engine::abort(ObjectId id, const std::string& what) {
  std::fprintf(stderr, "poise: object %u of \"%s\", step %llu on rank %d: %s\n", id,
               options_.name.c_str(), static_cast<unsigned long long>(num_steps_), world_.rank,
               what.c_str());
  std::fflush(stderr);
  MPI_Abort(comm_, 1);
  std::abort();
}

}  // namespace poise::objects
