// A program whose object 5 throws in its third step, or while it is serialized (an Error, or
// something odd), or kills its rank in the step after the fourth decision: the test looks at how
// the job ends.
#include <csignal>
#include <string_view>

#include "runtimes/objects/collection.h"

namespace poise::objects {
namespace {

std::string_view trouble;

struct Failing {
  ObjectId id = 0;
  int steps = 0;
  void step(const Inbox&, Outbox& outbox) {
    if (id == 5 && ++steps == 3 && trouble == "step") fail("out of luck");
    if (id == 5 && steps == 13 && trouble == "kill") std::raise(SIGKILL);
    outbox.send((id + 1) % 8, steps);
  }
  template <typename Archive>
  void serialize(Archive& archive) {
    if (id == 5 && trouble == "serialize") fail("cannot be packed");
    if (id == 5 && trouble == "odd") throw 42;
    archive(id, steps);
  }
};

}  // namespace
}  // namespace poise::objects

int main(int argc, char** argv) {
  using namespace poise::objects;
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);  // so that steps can be lent
  trouble = argc > 1 ? argv[1] : "step";
  Options options;
  options.name = "luck";
  options.strategy = "rotate";
  options.period = 3;
  {
    Collection<Failing> objects(
        MPI_COMM_WORLD, 8, [](ObjectId id) { return Failing{id}; }, options);
    objects.run(100);
  }
  MPI_Finalize();
  return 0;
}
