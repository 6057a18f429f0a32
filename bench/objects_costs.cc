// SPDX-License-Identifier: BSD-3-Clause
// Measures the costs of objects on MPI with two ranks, as JSON on rank 0's stdout: overhead per
// step, a balancing step of many small objects, and migration compared with plain MPI.
#include <algorithm>
#include <cstdio>
#include <fmt/core.h>
#include <memory>
#include <numeric>
#include <vector>

#include "runtimes/objects/collection.h"

#include "poise/base/clock.h"
#include "poise/base/random.h"

namespace poise::objects {
namespace {

constexpr int kRepeats = 7;

/// An object that, in every step, runs a loop of `rounds` iterations and then sends a message to
/// its two neighbours in a ring.
struct Busy {
  ObjectId id = 0, objects = 0;
  std::uint64_t rounds = 0, state = 0;

  void work() {
    for (std::uint64_t i = 0; i < rounds; ++i) state = mix(state);
  }
  void step(const Inbox&, Outbox& outbox) {
    work();
    const ObjectId to[] = {(id + 1) % objects, (id + objects - 1) % objects};
    outbox.send_to_all(to, std::array<double, 12>{});
  }
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(id, objects, rounds, state);
  }
};

struct Block {
  std::vector<double> values;
  void step(const Inbox&, Outbox&) {}
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(values);
  }
};

std::uint64_t rounds_of_100us() {
  std::uint64_t rounds = 1 << 16;
  double least_s = 1;
  for (int i = 0; i < 50; ++i) {
    Busy busy{.rounds = rounds, .state = 1};
    const double start_s = thread_cpu_now_s();
    busy.work();
    least_s = std::min(least_s, thread_cpu_now_s() - start_s);
  }
  return static_cast<std::uint64_t>(rounds * 1e-4 / least_s);
}

/// Relative overhead of a Collection on this rank: the CPU time of its steps divided by the CPU
/// time of the objects' work alone, minus 1.
double overhead() {
  constexpr ObjectId kObjects = 400;
  constexpr int kSteps = 5;
  std::vector<std::uint64_t> rounds{rounds_of_100us()};
  broadcast_rows(MPI_COMM_WORLD, rounds);
  const auto make = [&](ObjectId id) { return Busy{id, kObjects, rounds[0], id}; };
  Collection<Busy> objects(MPI_COMM_SELF, kObjects, make);
  double with_s = 1e9, without_s = 1e9;
  for (int r = 0; r < kRepeats; ++r) {
    double start_s = thread_cpu_now_s();
    objects.run(kSteps);
    with_s = std::min(with_s, thread_cpu_now_s() - start_s);
    std::vector<Busy> plain;
    objects.for_each([&](ObjectId, const Busy& busy) { plain.push_back(busy); });
    start_s = thread_cpu_now_s();
    for (int s = 0; s < kSteps; ++s)
      for (Busy& busy : plain) busy.work();
    without_s = std::min(without_s, thread_cpu_now_s() - start_s);
    if (std::accumulate(plain.begin(), plain.end(), std::uint64_t{0},
                        [](auto sum, const Busy& busy) { return sum ^ busy.state; }) == 0)
      std::puts("");  // without a use of the results, the compiler could remove the loop
  }
  return with_s / without_s - 1;
}

/// Repeats a balancing step that moves every object to the other rank. Returns the result of the
/// fastest step.
BalanceResult quickest_rotation(ObjectId num_objects, std::size_t bytes_each,
                                const char* strategy) {
  const auto make = [&](ObjectId id) {
    return Block{std::vector<double>(bytes_each / sizeof(double), id)};
  };
  CollectionOptions options;
  options.strategy = strategy;
  Collection<Block> objects(MPI_COMM_WORLD, num_objects, make, options);
  BalanceResult best;
  best.decision_s = best.migration_s = 1e9;
  for (int r = 0; r < kRepeats; ++r) {
    objects.step();
    MPI_Barrier(MPI_COMM_WORLD);
    const BalanceResult balanced = objects.balance();
    if (balanced.decision_s + balanced.migration_s < best.decision_s + best.migration_s)
      best = balanced;
  }
  return best;
}

/// Returns the seconds that two ranks need to exchange messages by plain MPI, both sending at the
/// same time. With `into_new_memory`, each message is received into newly allocated memory, as
/// migrated objects are; otherwise all are received into the same memory.
double raw_s(std::size_t messages, std::size_t bytes_each, bool into_new_memory) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int count = bytes_each;
  const std::vector<char> from(bytes_each, 'x');
  std::vector<char> there(bytes_each);
  double best_s = 1e9;
  for (int r = 0; r < kRepeats; ++r) {
    std::vector<std::unique_ptr<char[]>> kept;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start_s = wall_now_s();
    for (std::size_t m = 0; m < messages; ++m) {
      char* to = there.data();
      if (into_new_memory)
        to = kept.emplace_back(std::make_unique_for_overwrite<char[]>(bytes_each)).get();
      MPI_Sendrecv(from.data(), count, MPI_BYTE, 1 - rank, 0, to, count, MPI_BYTE, 1 - rank, 0,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    best_s = std::min(best_s, wall_now_s() - start_s);
  }
  return best_s;
}

void run() {
  constexpr ObjectId kLarge = 64, kSmall = 10000;
  constexpr std::size_t kLargeBytes = std::size_t{4} << 20, kSmallBytes = 1000;
  const double overhead_share = overhead();
  const BalanceResult large = quickest_rotation(kLarge, kLargeBytes, "rotate");
  const BalanceResult small = quickest_rotation(kSmall, kSmallBytes, "rotate");
  const BalanceResult greedy = quickest_rotation(kSmall, kSmallBytes, "greedy");
  const double there_s = raw_s(kLarge / 2, kLargeBytes, false);
  const double new_s = raw_s(kLarge / 2, kLargeBytes, true);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  const double bytes = kLarge * kLargeBytes;
  fmt::print(R"({{"overhead_at_100us": {:.5f}, "migration_bytes_per_s": {:.4g}, )"
             R"("raw_bytes_per_s": {:.4g}, "raw_bytes_per_s_into_new_memory": {:.4g}, )"
             R"("rotate_10k_objects_of_1kB_s": {:.4g}, "greedy_10k_objects_of_1kB_s": {:.4g}}})"
             "\n",
             overhead_share, bytes / large.migration_s, bytes / there_s, bytes / new_s,
             small.decision_s + small.migration_s, greedy.decision_s + greedy.migration_s);
}

}  // namespace
}  // namespace poise::objects

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 2) poise::objects::run();
  MPI_Finalize();
  if (ranks != 2) std::fprintf(stderr, "objects_costs: start two ranks\n");
  return ranks == 2 ? 0 : 2;
}
