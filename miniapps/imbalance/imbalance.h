// SPDX-License-Identifier: BSD-3-Clause
// A two-dimensional array of objects whose load grows with time, fastest near one corner, so that a
// balanced placement does not stay balanced. With `--jump` the extra load is at one corner and
// jumps to the next corner after a number of steps. Measurements of past steps cannot predict the
// jump. Objects average a value with their four neighbours.
#pragma once

#include <vector>

#include "miniapps/program.h"

#include "poise/base/random.h"

namespace poise::miniapps::imbalance {

struct Site {
  std::uint32_t x = 0, y = 0, side = 1;
  std::uint32_t jump = 0;  // steps until the load jumps to the next corner; 0: never
  double rounds = 0;       // rounds of hashing per step
  double growth = 0;       // hashing rounds by which the corner's load grows in each step
  std::uint64_t now = 0;
  double value = 0;
  std::uint64_t state = 1;
  std::vector<std::uint64_t> table = {};  // the memory that the hashing works on; may be empty

  void step(const Inbox& inbox, Outbox& outbox) {
    double sum = value;
    for (const Mail& mail : inbox) sum += mail.as<double>();
    value = sum / (1 + inbox.size());
    work(static_cast<std::uint64_t>(load()));
    if (jump == 0) rounds += growth * nearness(0);
    ++now;
    if (x > 0) outbox.send(y * side + x - 1, value);
    if (x + 1 < side) outbox.send(y * side + x + 1, value);
    if (y > 0) outbox.send((y - 1) * side + x, value);
    if (y + 1 < side) outbox.send((y + 1) * side + x, value);
  }

  void work(std::uint64_t rounds_now) {
    if (table.empty())
      for (; rounds_now > 0; --rounds_now) state = mix(state);
    for (; rounds_now > 0; --rounds_now) {
      std::uint64_t& entry = table[rounds_now % table.size()];
      entry = state = mix(state ^ entry);
    }
  }

  double nearness(std::uint64_t corner) const {
    const std::uint32_t across = corner % 2 == 1 ? side - 1 - y : y;
    const std::uint32_t along = corner == 1 || corner == 2 ? side - 1 - x : x;
    return 1.0 / (1 + along + across);
  }
  /// Returns the number of hashing rounds in this step.
  double load() const {
    return jump == 0 ? rounds : rounds + growth * jump * nearness(now / jump % 4);
  }

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(x, y, side, jump, rounds, growth, now, value, state, table);
  }
};

/// Defines the mini-app: its settings, its objects, and the check of its results.
struct Program {
  static constexpr const char* kName = "imbalance";
  static constexpr const char* kSummary =
      "An array whose load grows with time, most of all in one corner.";
  std::uint64_t iterations = 100;
  std::uint32_t side = 16, rounds = 2000, jump = 0, bytes = 0;
  double growth = 0.1;

  void add_options(Arguments& arguments) {
    arguments.add("--side", side, "objects per side of the array", 1, 3000);
    arguments.add("--rounds", rounds, "rounds of hashing per step at the start", 0, 1000000000);
    arguments.add("--growth", growth, "growth per step at the corner, relative to the initial load",
                  0.0, 1e3);
    arguments.add("--bytes", bytes, "bytes of the table that each object works on", 0, 1000000000);
    arguments.add("--jump", jump, "steps until the load jumps to the next corner; 0: never", 0,
                  1000000000);
  }
  ObjectId num_objects() const { return side * side; }
  std::uint64_t steps() const { return iterations; }
  Site object(ObjectId id) const {
    Site site{.x = id % side, .y = id / side, .side = side};
    site.jump = jump;
    site.rounds = rounds;
    site.growth = growth * rounds;
    site.table.resize(bytes / sizeof(std::uint64_t));
    site.value = mix(id) >> 40;
    return site;
  }
  double sum_of(const Site& site) const { return site.value + site.state % 1024; }
  double checksum(double sum) const { return sum; }
};

}  // namespace poise::miniapps::imbalance
