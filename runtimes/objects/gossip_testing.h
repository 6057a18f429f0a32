// SPDX-License-Identifier: BSD-3-Clause
// Objects whose results reveal whether each message arrived exactly once, in the right step and
// order.
#pragma once

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "runtimes/objects/collection.h"

#include "poise/base/random.h"

namespace poise::objects {

inline constexpr ObjectId kObjects = 23;
inline constexpr std::uint64_t kSteps = 16;

/// Sends messages to objects chosen pseudo-randomly from its state, and hashes all messages
/// received, in order. A message that is lost, duplicated, delayed or reordered changes every later
/// state.
struct Gossip {
  ObjectId id = 0;
  std::uint64_t state = 0, steps = 0;
  std::vector<double> ballast;

  void step(const Inbox& inbox, Outbox& outbox) {
    for (const Mail& mail : inbox) {
      std::uint64_t sent_in = 0;
      std::string text;
      mail.read(sent_in, text);
      if (sent_in + 1 != steps) fail("a message of step {} came in step {}", sent_in, steps);
      state = mix(state ^ mail.from());
      for (const char c : text) state = mix(state ^ static_cast<unsigned char>(c));
    }
    Random random(state);
    const std::uint64_t num_messages = random.below(5);
    for (std::uint64_t m = 0; m < num_messages; ++m)
      outbox.send(random.below(kObjects), steps,
                  std::string(random.below(100), static_cast<char>('a' + random.below(26))));
    std::vector<ObjectId> many;
    for (std::uint64_t m = random.below(8); m > 0; --m) many.push_back(random.below(kObjects));
    outbox.send_to_all(many, steps, std::string("to all"));
    ++steps;
  }

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(id, state, steps, ballast);
  }
};

inline Gossip gossip(ObjectId id) { return {id, mix(id), 0, std::vector<double>(10 * id, id)}; }

/// Runs the objects in one process, without MPI and without the engine's code.
class SerialHost final : public MessageRouter {
 public:
  Buffer& buffer_for(ObjectId to) override { return buffers_[to]; }
  void note(ObjectId, ObjectId, std::uint64_t) override {}

  std::vector<std::uint64_t> run(std::uint64_t steps) {
    std::vector<Gossip> objects;
    for (ObjectId id = 0; id < kObjects; ++id) objects.push_back(gossip(id));
    std::vector<Buffer> mail(kObjects);
    for (std::uint64_t s = 0; s < steps; ++s) {
      buffers_ = std::vector<Buffer>(kObjects);
      for (ObjectId id = 0; id < kObjects; ++id) {
        std::vector<Mail> inbox;
        for (auto bytes = mail[id].bytes(); !bytes.empty();) {
          const PackedMessage message = take_message(bytes);
          for (std::size_t i = 0; i < message.to.size(); ++i)
            inbox.emplace_back(message.from, message.payload);
        }
        Outbox outbox(*this, id);
        objects[id].step(Inbox(inbox), outbox);
      }
      mail = std::move(buffers_);
    }
    std::vector<std::uint64_t> states;
    for (const Gossip& object : objects) states.push_back(object.state);
    return states;
  }

 private:
  std::vector<Buffer> buffers_;
};

/// Returns the number of migrations. Collective.
inline std::uint64_t expect_serial_results(const CollectionOptions& options) {
  SCOPED_TRACE(options.strategy);
  Collection<Gossip> objects(MPI_COMM_WORLD, kObjects, gossip, options);
  objects.run(kSteps);
  EXPECT_EQ(objects.values([](const Gossip& g) { return g.state; }), SerialHost().run(kSteps));
  double ballast = 0;
  objects.for_each([&](ObjectId id, const Gossip& g) {
    EXPECT_EQ(g.id, id);
    EXPECT_EQ(g.ballast, gossip(id).ballast);
    EXPECT_EQ(objects.rank_of(id), objects.rank());
    ballast += g.ballast.size();
  });
  EXPECT_EQ(objects.num_steps(), kSteps);
  return objects.totals().migrations;
}

}  // namespace poise::objects
