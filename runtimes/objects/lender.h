// Steps of objects as tasks, which ranks that have run theirs borrow from ranks that have not: what
// no balancing foresaw is made up for within the step.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "runtimes/objects/engine.h"
#include "runtimes/tasks/context.h"

namespace poise::objects {

/// Objects stay where they live. One that is lent travels with its mail, and comes back with what
/// it wrote, so everything is as if it had run at home; what it cost is counted there.
class Engine::Lender {
 public:
  explicit Lender(Engine& engine);
  ~Lender();

  /// A step of every object, here or elsewhere; collective.
  void run_objects();

  /// The function of all these tasks: they know their context only.
  static void run(std::span<const tasks::Item> items);

 private:
  struct Loan {
    Buffer out;             // as the object leaves, where the node's ranks see it
    Buffer back = {};       // as it comes home
    std::size_t bytes = 0;  // on the way out, about
  };
  std::vector<std::uint32_t> longest_first() const;
  void submit(std::uint32_t slot);
  void run_here(std::uint32_t slot);
  void run_for_another(std::span<const tasks::Item> items);
  void take_home(std::uint32_t slot);
  void forward(std::span<const std::byte> letters);
  float& step_s(Slot& slot) const;
  void learn_unit();

  Engine& engine_;
  std::vector<Loan> loans_;    // by slot
  double unit_s_ = 0;          // the average of the first steps, the same on all ranks
  std::mutex mutex_;           // of all below, and of the thread whose mail is that of lent objects
  std::vector<Thread*> free_;  // those that no object runs on
  double borrowed_s_ = 0, lent_s_ = 0;  // load of others run here, and of own run elsewhere
  double borrowed_wall_s_ = 0;
  tasks::Context context_;  // last, for its threads use the rest
};

}  // namespace poise::objects
