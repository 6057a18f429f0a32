// SPDX-License-Identifier: BSD-3-Clause
// Runs a collection of objects: steps, measurements and balancing. It contains everything that does
// not depend on the type of the objects.
#pragma once

#include <exception>
#include <memory>
#include <mpi.h>
#include <vector>

#include "runtimes/objects/any_object.h"
#include "runtimes/objects/decide.h"
#include "runtimes/objects/job_layout.h"
#include "runtimes/objects/local_objects.h"
#include "runtimes/objects/message_exchange.h"
#include "runtimes/objects/meter.h"
#include "runtimes/objects/object_directory.h"
#include "runtimes/objects/object_guard.h"
#include "runtimes/objects/options.h"
#include "runtimes/objects/packing.h"
#include "runtimes/objects/rank_communication.h"
#include "runtimes/objects/run_files.h"
#include "runtimes/objects/step_runner.h"
#include "runtimes/objects/totals.h"
#include "runtimes/objects/worker.h"

#include "poise/workload/recorder.h"

namespace poise::objects {

/// Calls the parts of the runtime in order; each part has a header and a source file of its own.
/// All member functions that are not const are collective: every rank must call them. An exception
/// thrown by an object ends the job (object_guard.h).
class Engine {
 public:
  /// `options` must be the same on all ranks. If `num_objects` differs between ranks, the job ends.
  Engine(MPI_Comm comm, ObjectId num_objects, ObjectFactory factory,
         const CollectionOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Runs one step of all objects, then balances if it is due.
  void step();
  BalanceResult balance();
  Totals totals() { return totals_over_ranks(comm_, meter_, balancing_, num_threads_); }
  /// Completes the trace and the timeline.
  void finish();

  ObjectId num_objects() const { return directory_.num_objects(); }
  std::uint64_t num_steps() const { return meter_.num_steps(); }
  /// Returns the rank on which the object is. Throws Error if this rank does not know where the
  /// object is (Mode::hierarchical).
  int rank_of(ObjectId id) const { return directory_.rank_of(id); }
  const JobLayout& layout() const { return layout_; }
  const LocalObjects& local_objects() const { return objects_; }
  MPI_Comm comm() const { return comm_; }

 private:
  StepParts step_parts() {
    return {objects_, workers_, meter_, guard_, options_.clock, num_threads_};
  }
  void create_objects();
  void create_runner();
  void create_offloading_runner();
  void begin_phase();
  Measurements measure();
  void record_phase();
  void balance_if_due();
  bool is_worth_it();
  void update_directory(const Decision& decision, const Measurements& before);
  void add_result(BalanceResult& result);

  MPI_Comm comm_;
  JobLayout layout_;
  CollectionOptions options_;
  ObjectFactory factory_;
  int num_threads_;
  ObjectDirectory directory_;
  LocalObjects objects_;
  Meter meter_;
  ObjectGuard guard_;
  ObjectPacker packer_;
  Messenger messenger_;
  MessageExchange messages_;
  RankCommunication communication_;
  Communicator ranks_;
  Decider decider_;
  RunFiles files_;
  std::unique_ptr<Recorder> recorder_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<StepRunner> runner_;

  BalanceResult balancing_;         // sums over all balancing steps
  double reachable_imbalance_ = 1;  // the imbalance that the last decision predicted
  double last_cost_s_ = 0;  // seconds of the last decision and its migrations, on the slowest rank
  // Number of steps from the last decision to the next check whether balancing pays.
  std::uint64_t next_check_ = 0;
  // Number of exceptions in flight when the collection was created.
  const int exceptions_ = std::uncaught_exceptions();
};

}  // namespace poise::objects
