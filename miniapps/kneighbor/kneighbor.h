// SPDX-License-Identifier: BSD-3-Clause
// Objects form a ring. Each exchanges messages with its k nearest neighbours on either side, and
// computes almost nothing. The checksum is a hash of all messages received.
#pragma once

#include <vector>

#include "miniapps/program.h"

#include "poise/base/random.h"

namespace poise::miniapps::kneighbor {

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

/// Defines the mini-app: its settings, its objects, and the check of its results.
struct Program {
  static constexpr const char* kName = "kneighbor";
  static constexpr const char* kSummary =
      "Objects on a ring send to their k nearest neighbours on either side.";
  std::uint64_t iterations = 100;
  std::uint32_t objects = 64, k = 7, bytes = 1024, work = 200;

  void add_options(Arguments& arguments) {
    arguments.add("--objects", objects, "objects on the ring", 2, 10000000);
    arguments.add("--k", k, "neighbours on either side", 1, 1000);
    arguments.add("--bytes", bytes, "bytes of a message", 0, 1 << 30);
    arguments.add("--work", work, "rounds of hashing per step", 0, 1000000000);
  }
  void prepare() const {
    if (k >= objects) fail("--k is {}; it must be below the number of objects, {}", k, objects);
  }
  ObjectId num_objects() const { return objects; }
  std::uint64_t steps() const { return iterations; }
  Node object(ObjectId id) const { return Node{id, objects, k, bytes, work, mix(id)}; }
  std::uint64_t sum_of(const Node& node) const { return node.state; }
  double checksum(std::uint64_t sum) const { return sum >> 11; }
};

}  // namespace poise::miniapps::kneighbor
