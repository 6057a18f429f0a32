// Every object sends to its k nearest on either side of a ring and waits for them: communication
// and little else. The checksum is a hash of all that was received.
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
  std::uint32_t objects = 64, k = 7, bytes = 1024, work = 200;
};

struct Node {
  ObjectId id = 0;
  std::uint32_t objects = 0, k = 0, bytes = 0, work = 0;
  std::uint64_t state = 0;

  void step(const Inbox& inbox, Outbox& outbox) {
    for (const Mail& mail : inbox) {
      std::uint64_t word = 0;
      std::span<const char> rest;
      mail.read(word, rest);
      state = mix(state ^ word ^ rest.size());
    }
    for (std::uint32_t i = 0; i < work; ++i) state = mix(state);
    std::vector<ObjectId> to;
    for (std::uint32_t d = 1; d <= k; ++d) {
      to.push_back((id + d) % objects);
      to.push_back((id + objects - d) % objects);
    }
    outbox.send_to_all(to, state, std::vector<char>(bytes, 'x'));
  }

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(id, objects, k, bytes, work, state);
  }
};

void run(const Settings& s) {
  if (s.k >= s.objects) fail("--k is {}; it must be below the {} objects", s.k, s.objects);
  objects::Collection<Node> nodes(
      MPI_COMM_WORLD, s.objects,
      [&](ObjectId id) { return Node{id, s.objects, s.k, s.bytes, s.work, mix(id)}; },
      s.common.objects);
  nodes.run(s.common.steps);
  const std::uint64_t hash = nodes.sum([](const Node& node) { return node.state; });
  print_results(nodes, s.common.steps, static_cast<double>(hash >> 11));
}

}  // namespace
}  // namespace poise::miniapps

int main(int argc, char** argv) {
  using namespace poise::miniapps;
  Settings settings;
  CLI::App app("Objects on a ring send to their k nearest on either side.", "kneighbor");
  add_option(app, "--objects", settings.objects, "on the ring", 2, 10000000);
  add_option(app, "--k", settings.k, "neighbours on either side: 7, or 3", 1, 1000);
  add_option(app, "--bytes", settings.bytes, "of a message", 0, 1 << 30);
  add_option(app, "--work", settings.work, "rounds of hashing per step", 0, 1000000000);
  return run_program(argc, argv, app, settings.common, [&] { run(settings); });
}
