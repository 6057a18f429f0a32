// Objects of unequal load on a random graph, as Charm++'s lb_test: each works for 50 to 200 ms,
// times a scale, then tells its neighbours. Work is counted in rounds of hashing, so the checksum
// is the same everywhere.
#include <vector>

#include "miniapps/program.h"

#include "poise/base/random.h"

namespace poise::miniapps {
namespace {

using objects::Inbox;
using objects::Mail;
using objects::ObjectId;
using objects::Outbox;

constexpr double kRoundsPerMs = 6e5;  // about, on a processor of 2020

struct Settings {
  Common common{.steps = 20, .objects = {}};
  std::uint32_t objects = 200, degree = 4;
  double least_ms = 50, most_ms = 200, scale = 0.02;
};

struct Worker {
  ObjectId id = 0;
  std::uint64_t rounds = 0, state = 0;
  std::vector<ObjectId> neighbours;

  void step(const Inbox& inbox, Outbox& outbox) {
    for (const Mail& mail : inbox) state ^= mail.as<std::uint64_t>();
    for (std::uint64_t i = 0; i < rounds; ++i) state = mix(state);
    outbox.send_to_all(neighbours, state);
  }

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(id, rounds, state, neighbours);
  }
};

Worker worker(ObjectId id, const Settings& s) {
  Random random(mix(id + 1));
  Worker result{id, 0, random.bits(), {}};
  result.rounds =
      static_cast<std::uint64_t>(random.uniform(s.least_ms, s.most_ms) * s.scale * kRoundsPerMs);
  for (std::uint32_t n = 0; n < s.degree; ++n)
    result.neighbours.push_back(static_cast<ObjectId>(random.below(s.objects)));
  return result;
}

void run(const Settings& s) {
  if (s.least_ms > s.most_ms) fail("--least {} is above --most {}", s.least_ms, s.most_ms);
  objects::Collection<Worker> workers(
      MPI_COMM_WORLD, s.objects, [&](ObjectId id) { return worker(id, s); }, s.common.objects);
  workers.run(s.common.steps);
  const std::uint64_t hash = workers.sum([](const Worker& w) { return w.state; });
  print_results(workers, s.common.steps, static_cast<double>(hash >> 11));
}

}  // namespace
}  // namespace poise::miniapps

int main(int argc, char** argv) {
  using namespace poise::miniapps;
  Settings settings;
  CLI::App app("Objects of random loads on a random graph.", "lb_test");
  add_option(app, "--objects", settings.objects, "how many", 1, 10000000);
  add_option(app, "--degree", settings.degree, "messages per object and step", 0, 1000);
  add_option(app, "--least", settings.least_ms, "ms of work", 0.0, 1e6);
  add_option(app, "--most", settings.most_ms, "ms of work", 0.0, 1e6);
  add_option(app, "--scale", settings.scale, "times all loads", 0.0, 1e6);
  return run_program(argc, argv, app, settings.common, [&] { run(settings); });
}
