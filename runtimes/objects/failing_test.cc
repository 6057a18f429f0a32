// A program whose object 5 throws in its third step, or while it is serialized: the test looks at
// how the job ends.
#include <cstring>

#include "runtimes/objects/collection.h"

namespace poise::objects {
namespace {

bool fails_when_serialized = false;

struct Failing {
  ObjectId id = 0;
  int steps = 0;
  void step(const Inbox&, Outbox& outbox) {
    if (id == 5 && steps++ == 2 && !fails_when_serialized) fail("out of luck");
    outbox.send((id + 1) % 8, steps);
  }
  template <typename Archive>
  void serialize(Archive& archive) {
    if (id == 5 && fails_when_serialized) fail("cannot be packed");
    archive(id, steps);
  }
};

}  // namespace
}  // namespace poise::objects

int main(int argc, char** argv) {
  using namespace poise::objects;
  MPI_Init(&argc, &argv);
  fails_when_serialized = argc > 1 && std::strcmp(argv[1], "serialize") == 0;
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
