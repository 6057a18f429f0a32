// SPDX-License-Identifier: BSD-3-Clause
// Objects of unequal load on a graph, like Charm++'s lb_test: each works for 50 to 200 ms times a
// scale, then sends to its neighbours. The graph is random, or that of Charm++'s kNeighbor (a ring)
// or stencil3d (a periodic grid). Work is a fixed number of hashing rounds, so the checksum is the
// same on every machine.
#pragma once

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "miniapps/program.h"

#include "poise/base/random.h"

namespace poise::miniapps::lb_test {

// Rounds of hashing per millisecond, approximately, on a processor of 2020.
constexpr double kRoundsPerMs = 6e5;

struct Worker {
  ObjectId id = 0;
  std::uint64_t rounds = 0, sleep_us = 0, state = 0,
                bytes = 0;  // bytes of a message beside its state
  std::vector<ObjectId> neighbours;

  void step(const Inbox& inbox, Outbox& outbox) {
    for (const Mail& mail : inbox) {
      std::uint64_t word = 0;
      std::span<const char> rest;
      mail.read(word, rest);
      state ^= word;
    }
    for (std::uint64_t i = 0; i < rounds; ++i) state = mix(state);
    if (sleep_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(sleep_us));
    outbox.send_to_all(neighbours, state, std::vector<char>(bytes, 'x'));
  }

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(id, rounds, sleep_us, state, bytes, neighbours);
  }
};

/// The mini-app: its settings, its objects and the check of its results.
struct Program {
  static constexpr const char* kName = "lb_test";
  static constexpr const char* kSummary = "Objects with random loads on a random graph.";
  std::uint64_t iterations = 20;
  std::uint32_t objects = 200, degree = 4;
  double least_ms = 50, most_ms = 200, scale = 0.02;
  std::uint64_t bytes = 0;
  std::string graph = "random";
  bool sleeps = false;

  void add_options(Arguments& arguments) {
    arguments.add("--objects", objects, "number of objects", 1, 10000000);
    arguments.add("--degree", degree, "messages that each object sends per step", 0, 1000);
    arguments.add("--bytes", bytes, "bytes of a message", 0, 1 << 30);
    arguments.add("--graph", graph, "random, ring, or grid (3-D, six messages per object)");
    arguments.add("--least", least_ms, "ms of work per step of the lightest object", 0.0, 1e6);
    arguments.add("--most", most_ms, "ms of work per step of the heaviest object", 0.0, 1e6);
    arguments.add("--scale", scale, "factor for all loads", 0.0, 1e6);
    arguments.add_flag("--sleep", sleeps, "sleep instead of computing, for more ranks than cores");
  }
  void prepare() const {
    if (least_ms > most_ms) fail("--least {} must not exceed --most {}", least_ms, most_ms);
    if (graph != "random" && graph != "ring" && graph != "grid")
      fail("--graph {}: must be random, ring or grid", graph);
    if (graph == "grid" && side() * side() * side() != objects)
      fail("--objects {}: a grid needs a cube, such as 64 or 125", objects);
  }
  bool waits() const { return sleeps; }
  ObjectId num_objects() const { return objects; }
  std::uint64_t steps() const { return iterations; }
  Worker object(ObjectId id) const {
    Random random(mix(id + 1));
    Worker worker{id, 0, 0, random.bits(), bytes, {}};
    const double x = random.uniform();  // its fourth power below: few objects are heavy
    const double work_ms = (least_ms + (most_ms - least_ms) * x * x * x * x) * scale;
    (sleeps ? worker.sleep_us : worker.rounds) =
        static_cast<std::uint64_t>(work_ms * (sleeps ? 1000 : kRoundsPerMs));
    worker.neighbours = neighbours(id, random);
    return worker;
  }
  std::uint64_t sum_of(const Worker& worker) const { return worker.state; }
  double checksum(std::uint64_t sum) const { return static_cast<double>(sum >> 11); }

 private:
  ObjectId side() const {
    ObjectId side = 1;
    while (side * side * side < objects) ++side;
    return side;
  }

  std::vector<ObjectId> neighbours(ObjectId id, Random& random) const {
    std::vector<ObjectId> result;
    if (graph == "grid") {
      const ObjectId n = side();
      for (ObjectId step = 1; step < objects; step *= n) {  // one axis after the other
        const ObjectId at = id / step % n;
        result.push_back(id - at * step + (at + 1) % n * step);
        result.push_back(id - at * step + (at + n - 1) % n * step);
      }
      return result;
    }
    for (std::uint32_t k = 0; k < degree; ++k) {
      const ObjectId distance = k / 2 + 1;
      if (graph == "random")
        result.push_back(static_cast<ObjectId>(random.below(objects)));
      else
        result.push_back((id + (k % 2 == 0 ? distance : objects - distance)) % objects);
    }
    return result;
  }
};

}  // namespace poise::miniapps::lb_test
