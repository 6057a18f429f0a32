// The collection without its type: steps, mail, measuring, migrating.
#pragma once

#include <functional>
#include <memory>
#include <mpi.h>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtimes/balance/run_record.h"
#include "runtimes/objects/decide.h"
#include "runtimes/objects/diary.h"
#include "runtimes/objects/exchange.h"
#include "runtimes/objects/mail.h"
#include "runtimes/objects/options.h"
#include "runtimes/objects/world.h"

#include "poise/workload/recorder.h"

namespace poise::objects {

using balance::Balanced;
using balance::Journal;

/// An object as the engine sees it.
class Hosted {
 public:
  virtual ~Hosted() = default;
  virtual void step(const Inbox& inbox, Outbox& outbox) = 0;
  virtual std::size_t bytes() const = 0;
  virtual void write(Buffer& buffer) const = 0;
  /// Position and movability, where the type tells them.
  virtual void describe(Row& row) const = 0;
};

/// How objects come into being: at first, and where they migrate to.
struct Making {
  std::function<std::unique_ptr<Hosted>(ObjectId)> fresh;
  std::function<std::unique_ptr<Hosted>(std::span<const std::byte>)> restored;
};

/// What a run came to, over all ranks.
struct Totals {
  std::uint64_t steps = 0;
  double wall_s = 0;                 // in steps and balancing, the slowest rank's
  double load_s = 0;                 // of all objects
  double busiest_s = 0, idle_s = 0;  // the load of the rank that had most; waiting, all ranks'
  double efficiency = 0;             // load over wall times threads
  std::uint64_t migrations = 0, migrated_bytes = 0;
  double decision_s = 0, migration_s = 0;
  // Since the last decision: the same, and the load of the busiest rank over the average.
  std::uint64_t phase_steps = 0;
  double phase_wall_s = 0, phase_efficiency = 0, phase_imbalance = 1;
};

/// All public calls are collective, but the plain questions. An exception of an object ends the
/// job: a line on stderr names it, MPI_Abort does the rest.
class Engine {
 public:
  class Lender;  // see lender.h

  Engine(MPI_Comm comm, ObjectId num_objects, Making making, const Options& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void step();
  Balanced balance();
  Totals totals();
  /// Records what was measured since the last decision, and completes the trace and the timeline.
  void finish();

  ObjectId num_objects() const { return placement_.num_tasks(); }
  std::uint64_t num_steps() const { return num_steps_; }
  int rank_of(ObjectId id) const { return world_.rank_of(placement_.of(id)); }
  const World& world() const { return world_; }
  const Placement& placement() const { return placement_; }
  std::vector<std::pair<ObjectId, Hosted*>> own_objects() const;
  MPI_Comm comm() const { return comm_; }
  /// Runs something that may throw on behalf of an object.
  void guard(ObjectId id, const std::function<void()>& work);

 private:
  struct Slot {
    ObjectId id;
    std::unique_ptr<Hosted> object;
    std::vector<Mail> inbox;
    double wall_s = 0;
    std::vector<double> subphase_s = {};  // by Options::clock, so many as num_subphases_
    std::vector<float> step_s = {};       // of its last steps by subphase, where lent; 0: unknown
  };
  class Thread;

  void start_lending();
  void make_objects(const Making& making);
  void deal_out();
  void run_objects();
  void run_one(std::size_t slot, Thread& thread);
  void find_subphase();
  void charge(Slot& slot, double cpu_s, double wall_s) const;
  void count_busy();
  std::vector<Parcel> collect_mail();
  void exchange_mail();
  void deliver(std::span<const std::byte> letters);
  Share measured();
  void begin_phase();
  void migrate(const Placement& next, Balanced& balanced);
  void pack(Slot& slot, Buffer& buffer);
  void pack(const Slot& slot, Buffer& buffer, const std::function<void(Buffer&)>& add_mail);
  std::span<const std::byte> unpack_object(std::span<const std::byte>& bytes, Slot& slot);
  bool unpack_one(std::span<const std::byte>& bytes, Slot& slot);
  void unpack(Parcel parcel, std::vector<Slot>& arrived);
  void record_phase();
  void keep_record(const Census& census);
  std::vector<double> work_ends_s() const;
  void finish_trace();
  void finish_timeline();
  void balance_if_due();
  std::vector<double> busy_by_subphase_s() const;
  bool is_worth_it();
  void warn(const std::string& trouble);
  [[noreturn]] void abort(ObjectId id, const std::string& what);

  MPI_Comm comm_;
  Options options_;
  Making making_;
  World world_;
  int num_threads_;
  Placement placement_;
  Exchange exchange_;
  Decider decider_;
  std::unique_ptr<Journal> journal_;  // at rank 0
  bool keeps_trace_ = false;
  Diary diary_;
  std::unique_ptr<Recorder> recorder_;
  std::vector<std::unique_ptr<Thread>> threads_;  // and one for what lent objects write
  std::unique_ptr<Lender> lender_;                // where steps may be lent

  std::vector<Slot> slots_;                                  // by id
  std::vector<std::uint32_t> slot_of_;                       // by id; of own objects
  std::vector<std::vector<std::uint32_t>> slots_of_thread_;  // where each has a place of its own
  std::vector<Parcel> held_;  // what the inboxes look into: first from each thread, then others'

  std::uint64_t num_steps_ = 0, steps_in_phase_ = 0, check_after_ = 4;
  std::uint32_t subphase_ = 0, num_subphases_ = 0;  // of this step; known, 0: nobody asked for them
  double wall_s_ = 0, phase_wall_s_ = 0, load_s_ = 0, phase_load_s_ = 0;
  double phase_ran_s_ = 0;  // load that ran here, which with lending is not that of own objects
  double background_s_ = 0, idle_s_ = 0, total_idle_s_ = 0;
  Balanced sum_;  // of all balancing steps
  double reachable_imbalance_ = 1, last_cost_s_ = 0;
  bool has_warned_ = false;
};

/// The options with the environment of rank 0 applied, everywhere. Bad values end the program with
/// one line and exit status 2. Collective.
Options agreed_options(MPI_Comm comm, const Options& options);

}  // namespace poise::objects
