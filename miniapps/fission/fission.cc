// SPDX-License-Identifier: BSD-3-Clause
// Neutrons that split nuclei, by the Monte Carlo method. In each step every rank follows the same
// number of chains: a neutron flies from collision to collision until a nucleus absorbs it. With a
// given probability this nucleus splits and releases two neutrons, which continue the chain. Some
// chains are many times longer than others, so the busiest rank changes from step to step.
//
// If a neutron releases k neutrons on average, the number of neutrons of a chain has the mean
// 1 / (1 - k) and the variance k (2 - k) / (1 - k)^3 (Harris, The Theory of Branching Processes,
// 1963, section I.13). The program checks the mean.
#include <chrono>
#include <cmath>
#include <iostream>
#include <mpi.h>
#include <vector>

#include "miniapps/arguments.h"
#include "miniapps/tasks_program.h"
#include "runtimes/tasks/context.h"

#include "poise/base/random.h"

namespace {

namespace tasks = poise::tasks;

struct Tally {
  std::uint64_t neutrons = 0;
  double track = 0;  // total length of all flights, in mean free paths
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(neutrons, track);
  }
};

Tally follow(std::uint64_t chain, double k, int flights) {
  poise::Random random(chain);
  Tally tally;
  for (std::uint64_t flying = 1; flying > 0; --flying) {
    ++tally.neutrons;
    for (int i = 0; i < flights; ++i) tally.track -= poise::portable_log(1 - random.uniform());
    if (random.uniform() < k / 2) flying += 2;
  }
  return tally;
}
const auto kFollow = tasks::function("follow", follow);

struct Wanted {
  std::uint64_t steps = 100, chains = 50;
  int flights = 500;
  double k = 0.9;
  bool plain = false;
  std::string settings;
};

Tally& operator+=(Tally& sum, const Tally& tally) {
  sum.neutrons += tally.neutrons;
  sum.track += tally.track;
  return sum;
}

/// Follows the neutron chains of this rank in a step; `first` is the index of the first chain.
Tally step(tasks::Context& context, const Wanted& wanted, std::uint64_t first) {
  Tally sum;
  if (wanted.plain) {
    for (std::uint64_t i = 0; i < wanted.chains; ++i)
      sum += follow(first + i, wanted.k, wanted.flights);
    return sum;
  }
  std::vector<tasks::Future<Tally>> tallies;
  for (std::uint64_t i = 0; i < wanted.chains; ++i)
    tallies.push_back(context.submit(kFollow, first + i, wanted.k, wanted.flights));
  context.wait();
  for (auto& tally : tallies) sum += tally.get();
  return sum;
}

bool is_right(const Wanted& wanted, const Tally& sum, int num_ranks) {
  const double chains = 1.0 * num_ranks * wanted.steps * wanted.chains, lost = 1 - wanted.k;
  const double deviation = std::sqrt(chains * wanted.k * (2 - wanted.k) / (lost * lost * lost));
  const double flights = 1.0 * sum.neutrons * wanted.flights;
  return std::abs(sum.neutrons - chains / lost) <= 5 * deviation &&
         std::abs(sum.track - flights) <= 5 * std::sqrt(flights);
}

int run(const Wanted& wanted) {
  tasks::Context context(MPI_COMM_WORLD, {.settings = wanted.settings});
  int num_ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  Tally sum;
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < wanted.steps; ++i) {
    const Tally own = step(context, wanted, (i * num_ranks + context.rank()) * wanted.chains);
    Tally all;
    MPI_Allreduce(&own.neutrons, &all.neutrons, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&own.track, &all.track, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sum += all;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const bool right = is_right(wanted, sum, num_ranks);
  if (context.rank() == 0) {
    std::cout.precision(8);
    std::cout << sum.neutrons << " neutrons, track length " << sum.track << ": "
              << (right ? "as expected" : "NOT as expected")
              << "\nTime of the steps: " << took.count() << " s\n";
  }
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Wanted wanted;
  poise::miniapps::Arguments arguments("Chains of fissions as tasks", "fission");
  arguments.add("--steps", wanted.steps, "number of steps", 1, 1000000000);
  arguments.add("--chains", wanted.chains, "chains per rank and step", 1, 1000000000);
  arguments.add("--flights", wanted.flights, "flights of a neutron", 1, 1000000000);
  arguments.add("--k", wanted.k, "mean number of neutrons that a neutron releases", 0.0, 0.999);
  arguments.add_flag("--plain", wanted.plain, "each rank follows its chains itself, without tasks");
  arguments.add("--settings", wanted.settings,
                "settings of the tasks runtime, like policy=paired,pull=0");
  if (const auto over = arguments.status_after_parsing(argc, argv)) return *over;
  return poise::miniapps::run_under_mpi("fission", argc, argv, [&] { return run(wanted); });
}
