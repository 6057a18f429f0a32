// A two-dimensional array of objects whose load grows with time, faster the nearer they are to one
// corner: what was in balance does not stay so. Objects average a value with their four neighbours.
#include <vector>

#include "miniapps/program.h"

#include "poise/base/random.h"

namespace poise::miniapps {
namespace {

using objects::Inbox;
using objects::Mail;
using objects::ObjectId;
using objects::Outbox;

struct Settings {
  Common common{.steps = 100, .objects = {}};
  std::uint32_t side = 16, rounds = 2000;
  double growth = 0.1;
};

struct Site {
  std::uint32_t x = 0, y = 0, side = 1;
  double rounds = 0, growth = 0;  // of work per step, and what each step adds to it
  double value = 0;
  std::uint64_t state = 1;

  void step(const Inbox& inbox, Outbox& outbox) {
    double sum = value;
    for (const Mail& mail : inbox) sum += mail.as<double>();
    value = sum / static_cast<double>(1 + inbox.size());
    for (std::uint64_t i = static_cast<std::uint64_t>(rounds); i > 0; --i) state = mix(state);
    rounds += growth;
    if (x > 0) outbox.send(y * side + x - 1, value);
    if (x + 1 < side) outbox.send(y * side + x + 1, value);
    if (y > 0) outbox.send((y - 1) * side + x, value);
    if (y + 1 < side) outbox.send((y + 1) * side + x, value);
  }

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(x, y, side, rounds, growth, value, state);
  }
};

Site site(ObjectId id, const Settings& s) {
  Site result{.x = id % s.side, .y = id / s.side, .side = s.side};
  const double nearness = 1.0 / (1 + result.x + result.y);
  result.rounds = s.rounds;
  result.growth = s.growth * s.rounds * nearness;
  result.value = static_cast<double>(mix(id) >> 40);
  return result;
}

void run(const Settings& s) {
  objects::Collection<Site> sites(
      MPI_COMM_WORLD, s.side * s.side, [&](ObjectId id) { return site(id, s); }, s.common.objects);
  sites.run(s.common.steps);
  print_results(sites, s.common.steps, sites.sum([](const Site& at) {
    return at.value + static_cast<double>(at.state % 1024);
  }));
}

}  // namespace
}  // namespace poise::miniapps

int main(int argc, char** argv) {
  using namespace poise::miniapps;
  Settings settings;
  CLI::App app("An array whose load grows with time, most of all in one corner.", "imbalance");
  add_option(app, "--side", settings.side, "objects per side", 1, 3000);
  add_option(app, "--rounds", settings.rounds, "of hashing per step at first", 0, 1000000000);
  add_option(app, "--growth", settings.growth, "per step, over the first load, in the corner", 0.0,
             1e3);
  return run_program(argc, argv, app, settings.common, [&] { run(settings); });
}
