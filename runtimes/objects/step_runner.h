// SPDX-License-Identifier: BSD-3-Clause
// Runs one step of every object of a rank on the rank's threads.
#pragma once

#include <memory>
#include <vector>

#include "runtimes/objects/local_objects.h"
#include "runtimes/objects/meter.h"
#include "runtimes/objects/object_guard.h"
#include "runtimes/objects/options.h"
#include "runtimes/objects/worker.h"

namespace poise::objects {

/// The parts of the runtime that running a step uses. All of them must outlive the runner.
struct StepParts {
  LocalObjects& objects;
  std::vector<std::unique_ptr<Worker>>& workers;  // at least one per thread
  Meter& meter;
  const ObjectGuard& guard;
  Clock clock;
  int num_threads;
};

class StepRunner {
 public:
  virtual ~StepRunner() = default;
  /// Runs one step of every object, and adds the times to the meter. Ends the job if an object
  /// throws.
  virtual void run() = 0;
  /// Returns for each of this rank's places the time at which it finished its objects in the last
  /// step.
  virtual std::vector<double> work_ends_s() const = 0;
};

/// Runs the objects on OpenMP threads. With one place per thread each thread runs the objects of
/// its place; otherwise the next object goes to the thread that is free first.
class ThreadedSteps final : public StepRunner {
 public:
  ThreadedSteps(StepParts parts, bool one_place_per_thread)
      : parts_(parts), one_place_per_thread_(one_place_per_thread) {}
  void run() override;
  std::vector<double> work_ends_s() const override;

 private:
  StepParts parts_;
  bool one_place_per_thread_;
  std::vector<double> place_ends_s_;  // per place; set only with one place per thread
};

/// Runs a step of one object on the calling thread and adds its time to the object and to the
/// worker. If the object throws, the worker stores the error text and runs no further objects.
void run_object(LocalObject& object, Worker& worker, const Meter& meter, Clock clock);

/// Adds the workers' times of this step to the meter and resets them. Ends the job if an object
/// threw.
void collect_loads(const StepParts& parts);

}  // namespace poise::objects
