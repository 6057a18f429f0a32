// Offloads steps of objects: a rank that has run its own objects runs steps of other ranks'
// objects. This evens out imbalances within a step that no balancing could foresee.
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

/// Runs every object's step as a task of the tasks runtime, which other ranks may steal. The object
/// still lives where it lives: if its step is offloaded, the object travels there with its inbox
/// and returns with the messages it sent. The step's time counts for the owner, so results and
/// measurements are as if it had run there.
class OffloadedSteps final : public StepRunner {
 public:
  /// `parts.workers` has one more worker than threads: it gathers what offloaded objects sent.
  OffloadedSteps(MPI_Comm comm, StepParts parts, const ObjectDirectory& directory,
                 const ObjectPacker& packer);
  ~OffloadedSteps() override;
  OffloadedSteps(const OffloadedSteps&) = delete;
  OffloadedSteps& operator=(const OffloadedSteps&) = delete;

  /// Collective.
  void run() override;
  std::vector<double> work_ends_s() const override;

  /// The function of all these tasks. It finds its runner by the context of the running task.
  static void run_task(std::span<const tasks::Item> items);

 private:
  /// The buffers of one object's task.
  struct Transfer {
    Buffer out;             // the object on its way out, in memory that the node's ranks share
    Buffer back = {};       // the object on its way back; empty if the step ran here
    std::size_t bytes = 0;  // on the way out; an estimate until the object is packed
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
  double cost_unit_s_ = 0;           // average time of the first steps of all ranks; 0: unknown

  std::mutex mutex_;                   // guards everything below and the last worker
  std::vector<Worker*> idle_workers_;  // those without an object
  double run_for_others_s_ = 0;        // load of other ranks' objects that ran here
  double run_for_others_wall_s_ = 0;
  double run_elsewhere_s_ = 0;  // load of own objects that ran on other ranks

  tasks::Context context_;  // the last member, because its threads use the others
};

}  // namespace poise::objects
