// SPDX-License-Identifier: BSD-3-Clause
// Objects of unequal load on a random graph, like Charm++'s lb_test: each works for 50 to 200 ms
// (multiplied by a scale), then sends to its neighbours. Work is a fixed number of hashing rounds,
// so the checksum is the same on every machine.
#pragma once

#include <chrono>
#include <thread>
#include <vector>

#include "miniapps/program.h"

#include "poise/base/random.h"

namespace poise::miniapps::lb_test {

// Rounds of hashing per millisecond, approximately, on a processor from 2020.
constexpr double kRoundsPerMs = 6e5;

struct Worker {
  ObjectId id = 0;
  std::uint64_t rounds = 0, sleep_us = 0, state = 0;
  std::vector<ObjectId> neighbours;

  void step(const Inbox& inbox, Outbox& outbox) {
    for (const Mail& mail : inbox) state ^= mail.as<std::uint64_t>();
    for (std::uint64_t i = 0; i < rounds; ++i) state = mix(state);
    if (sleep_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(sleep_us));
    outbox.send_to_all(neighbours, state);
  }

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(id, rounds, sleep_us, state, neighbours);
  }
};

/// Defines the mini-app: its settings, its objects, and the check of its results.
struct Program {
  static constexpr const char* kName = "lb_test";
  static constexpr const char* kSummary = "Objects with random loads on a random graph.";
  std::uint64_t iterations = 20;
  std::uint32_t objects = 200, degree = 4;
  double least_ms = 50, most_ms = 200, scale = 0.02;
  bool sleeps = false;

  void add_options(Arguments& arguments) {
    arguments.add("--objects", objects, "number of objects", 1, 10000000);
    arguments.add("--degree", degree, "messages that each object sends per step", 0, 1000);
    arguments.add("--least", least_ms, "ms of work per step of the lightest object", 0.0, 1e6);
    arguments.add("--most", most_ms, "ms of work per step of the heaviest object", 0.0, 1e6);
    arguments.add("--scale", scale, "factor for all loads", 0.0, 1e6);
    arguments.add_flag("--sleep", sleeps, "sleep instead of computing, for more ranks than cores");
  }
  void prepare() const {
    if (least_ms > most_ms) fail("--least {} must not exceed --most {}", least_ms, most_ms);
  }
  bool waits() const { return sleeps; }
  ObjectId num_objects() const { return objects; }
  std::uint64_t steps() const { return iterations; }
  Worker object(ObjectId id) const {
    Random random(mix(id + 1));
    Worker worker{id, 0, 0, random.bits(), {}};
    /// The load grows with the fourth power of this random number, so few objects are heavy.
    const double x = random.uniform();
    const double work_ms = (least_ms + (most_ms - least_ms) * x * x * x * x) * scale;
    (sleeps ? worker.sleep_us : worker.rounds) =
        static_cast<std::uint64_t>(work_ms * (sleeps ? 1000 : kRoundsPerMs));
    for (std::uint32_t n = 0; n < degree; ++n) worker.neighbours.push_back(random.below(objects));
    return worker;
  }
  std::uint64_t sum_of(const Worker& worker) const { return worker.state; }
  double checksum(std::uint64_t sum) const { return sum >> 11; }
};

}  // namespace poise::miniapps::lb_test
