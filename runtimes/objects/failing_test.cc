// SPDX-License-Identifier: BSD-3-Clause
// A program that fails in the way that its argument names. step: object 5 throws in its third step.
// silent: the same, and the exception has no text. serialize: object 5 throws an Error while it is
// serialized. odd: object 5 throws an int while it is serialized. memory: object 5 throws when it
// is asked for its memory. kill: object 5 kills its rank in the step after the fourth decision.
// count: ranks pass different numbers of objects. some: only rank 0 sets subphase_of_step. unlike:
// ranks return different subphases; Poise decides when to balance, and the program also calls
// balance() at the end. subphase: subphase_of_step returns 64. unthreaded: MPI is initialized with
// MPI_THREAD_SINGLE. none: nothing fails, and the program exits with status 0 after 10 steps.
// tests/mpi/crash_test.py checks how the job ends.
#include <csignal>
#include <stdexcept>
#include <string_view>

#include "runtimes/objects/collection.h"

namespace poise::objects {
namespace {

std::string_view failure;

struct Failing {
  ObjectId id = 0;
  int steps = 0;
  void step(const Inbox&, Outbox& outbox) {
    if (id == 5 && ++steps == 3 && failure == "step") fail("out of luck");
    if (id == 5 && steps == 3 && failure == "silent") throw std::runtime_error("");
    if (id == 5 && steps == 13 && failure == "kill") std::raise(SIGKILL);
    outbox.send((id + 1) % 8, steps);
  }
  std::vector<std::span<std::byte>> memory() const {
    if (id == 5 && failure == "memory") throw std::runtime_error("forgot where");
    return {};
  }
  template <typename Archive>
  void serialize(Archive& archive) {
    if (id == 5 && failure == "serialize") fail("cannot be packed");
    if (id == 5 && failure == "odd") throw 42;
    archive(id, steps);
  }
};

}  // namespace
}  // namespace poise::objects

int main(int argc, char** argv) {
  using namespace poise::objects;
  failure = argc > 1 ? argv[1] : "step";
  int level = failure == "unthreaded" ? MPI_THREAD_SINGLE : MPI_THREAD_FUNNELED;
  MPI_Init_thread(&argc, &argv, level, &level);
  CollectionOptions options;
  options.name = "luck";
  options.strategy = "rotate";
  options.period = 3;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (failure == "unlike" || (failure == "some" && rank == 0))
    options.subphase_of_step = [rank](std::uint64_t) { return static_cast<std::uint32_t>(rank); };
  if (failure == "subphase") options.subphase_of_step = [](std::uint64_t) { return 64u; };
  if (failure == "unlike") {
    options.period = 0;
    options.is_automatic = true;
  }
  {
    Collection<Failing> objects(
        MPI_COMM_WORLD, failure == "count" ? 8 + rank : 8, [](ObjectId id) { return Failing{id}; },
        options);
    const bool fails = failure != "none";
    objects.run(fails ? 100 : 10);
    if (failure == "unlike") objects.balance();
  }
  MPI_Finalize();
  return 0;
}
