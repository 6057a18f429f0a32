// SPDX-License-Identifier: BSD-3-Clause
// Offloads steps of objects: a rank that has run the steps of its own objects runs steps of other
// ranks' objects. This evens out imbalances within a step, which balancing could not foresee.
#pragma once

#include <cstdint>
#include <mpi.h>
#include <mutex>
#include <span>
#include <vector>

#include "runtimes/objects/object_directory.h"
#include "runtimes/objects/packing.h"
#include "runtimes/objects/step_runner.h"
#include "runtimes/tasks/context.h"

namespace poise::objects {

/// Runs every object's step as a task of the tasks runtime, which other ranks may steal. Offloading
/// moves an object only for one step: the object travels with its inbox, and returns with the
/// messages that it sent. The step's time counts for the object's own rank, so results and
/// measurements are the same as if the step had run there.
class OffloadedSteps final : public StepRunner {
 public:
  /// `parts.workers` needs one worker per thread, and an additional one that gathers the messages
  /// of offloaded objects.
  OffloadedSteps(MPI_Comm comm, StepParts parts, const ObjectDirectory& directory,
                 const ObjectPacker& packer);
  ~OffloadedSteps() override;
  OffloadedSteps(const OffloadedSteps&) = delete;
  OffloadedSteps& operator=(const OffloadedSteps&) = delete;

  /// Runs one step of all objects. Collective.
  void run() override;
  std::vector<double> work_ends_s() const override;

  /// The function of the tasks that run the steps. It is static, and finds the OffloadedSteps
  /// object through the context of the running task.
  static void run_task(std::span<const tasks::Item> items);

 private:
  /// The buffers of the task that runs one object's step.
  struct Transfer {
    Buffer out;             // the object on its way out, in memory that the node's ranks share
    Buffer back = {};       // the object on its way back; empty if its step ran on this rank
    std::size_t bytes = 0;  // number of bytes in `out`; an estimate until the object is packed
  };
  std::vector<std::uint32_t> longest_first() const;
  void submit(std::uint32_t index);
  void run_own(std::uint32_t index);
  void run_for_owner(std::span<const tasks::Item> items);
  void take_back(std::uint32_t index);
  void forward(std::span<const std::byte> messages);
  float& step_s(LocalObject& object) const;
  void find_cost_unit();
  double load_s(double cpu_s, double wall_s) const {
    return parts_.clock == Clock::wall ? wall_s : cpu_s;
  }

  MPI_Comm comm_;
  StepParts parts_;
  const ObjectDirectory& directory_;
  const ObjectPacker& packer_;
  std::vector<Transfer> transfers_;  // by object
  double cost_unit_s_ = 0;  // average time of objects' first steps, over all ranks; 0: unknown

  mutable std::mutex mutex_;           // guards all members below and parts_.workers.back()
  std::vector<Worker*> idle_workers_;  // workers that have no object
  double run_for_others_s_ = 0;        // load of other ranks' objects that ran on this rank
  double run_for_others_wall_s_ = 0;
  double run_elsewhere_s_ = 0;  // load of this rank's objects that ran on other ranks
  double work_end_s_ = 0;       // when the last step of an object on this rank ended

  tasks::Context context_;  // must be the last member: its threads use the other members
};

}  // namespace poise::objects
