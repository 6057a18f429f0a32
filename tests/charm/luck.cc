// SPDX-License-Identifier: BSD-3-Clause
// A program whose objects throw an exception at a chosen point, to test how a Charm++ job
// ends in that case.
#include "miniapps/on_charm.h"

namespace {

using namespace poise::miniapps;

struct Gambler {
  ObjectId id = 0;
  std::uint32_t steps = 0;
  std::string at;  // where an object throws an exception: step, send, move or check

  void step(const Inbox&, Outbox& outbox) {
    if (id == 5 && steps == 2 && at == "step") poise::fail("out of luck");
    if (id == 5 && steps == 2 && at == "send") outbox.send(8, steps);
    ++steps;
  }
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(id, steps, at);
    if (id == 5 && at == "move") poise::fail("cannot be packed");
  }
};

struct Luck {
  static constexpr const char* kName = "luck";
  static constexpr const char* kSummary = "One of eight objects fails.";
  std::uint64_t iterations = 6;
  std::string at;

  void add_options(Arguments& arguments) { arguments.add("at", at, "step, send, move or check"); }
  ObjectId num_objects() const { return 8; }
  std::uint64_t steps() const { return iterations; }
  Gambler object(ObjectId id) const { return {id, 0, at}; }
  std::uint64_t sum_of(const Gambler& gambler) const { return gambler.steps; }
  double checksum(std::uint64_t sum) const { return static_cast<double>(sum); }
  void check(std::uint64_t before, std::uint64_t after) const {
    if (at == "check")
      poise::fail(
          "this test is meant to fail; the step counters of all objects add up to {} before the "
          "run and to {} after it",
          before, after);
  }
};

}  // namespace

poise::miniapps::Asked poise::miniapps::asked_for(const std::vector<std::string>& arguments) {
  return asked_of<Luck>(arguments);
}
