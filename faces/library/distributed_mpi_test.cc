// SPDX-License-Identifier: BSD-3-Clause
// Tests the C interface under a launcher: MPI ranks must get the same results as simulated ranks,
// and if one rank has an error, all ranks must report one. Exits with status 1 if a check fails.
#include <cstdio>
#include <memory>
#include <poise/poise_mpi.h>

#include "faces/library/distributed_testing.h"
#include "tests/support/random_problem.h"

#include "poise/base/random.h"
#include "poise/machine/text.h"

namespace poise::library {
namespace {

int num_wrong = 0;

void check(bool holds, const char* what, std::uint64_t seed) {
  if (holds) return;
  ++num_wrong;
  std::fprintf(stderr, "does not hold: %s (seed %d)\n", what, static_cast<int>(seed));
}

/// Communication functions that use MPI. Call number `failing` communicates, but then returns an
/// error on this rank.
struct Failing {
  poise_communication ranks;
  std::uint64_t calls = 0, failing = ~std::uint64_t{0};

  int status(int result) { return calls++ == failing ? 5 : result; }
  static int exchange(void* self, std::uint64_t n, const std::uint32_t* to, const void* const* data,
                      const std::uint64_t* bytes, poise_receive receive, void* receiver) {
    auto& own = *static_cast<Failing*>(self);
    return own.status(own.ranks.exchange(own.ranks.context, n, to, data, bytes, receive, receiver));
  }
  static int reduce(void* self, int reduction, std::uint64_t count, std::uint64_t* values) {
    auto& own = *static_cast<Failing*>(self);
    return own.status(own.ranks.reduce(own.ranks.context, reduction, count, values));
  }
  poise_communication table() { return {this, ranks.rank, ranks.num_ranks, exchange, reduce}; }
};

Told plan(const poise_communication& ranks, const poise_machine* machine, const OwnArrays& own,
          bool knows_ranks) {
  return plan_in_c(ranks, machine, c_view(own, knows_ranks), own.ids.size());
}

/// True if all ranks pass the same number.
bool is_same(int value) {
  int range[] = {value, -value};
  MPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return range[0] == -range[1];
}

void compare_with_simulated(const poise_communication& ranks, const poise_machine* machine,
                            const std::vector<OwnArrays>& own, std::uint64_t seed) {
  SimulatedRanks simulated(ranks.num_ranks);
  const std::vector<Told> expected = plan_in_c(simulated, machine, own, true);
  for (const bool knows_ranks : {true, false, true}) {
    const Told told = plan(ranks, machine, own[ranks.rank], knows_ranks);
    check(told.code == POISE_OK, "there is a plan", seed);
    check(told == expected[ranks.rank], "ranks get the same results as simulated ranks", seed);
  }
}

void fail_somewhere(const poise_communication& ranks, const poise_machine* machine,
                    const std::vector<OwnArrays>& own, std::uint64_t seed) {
  Failing failing{ranks};
  if (ranks.rank == seed % ranks.num_ranks) failing.failing = 3 * seed;
  const Told told = plan(failing.table(), machine, own[ranks.rank], false);
  check(told.code == POISE_BAD_INPUT, "a failing function is an error", seed);
  check(is_same(told.code), "all ranks return the same code", seed);
  OwnArrays wrong = own[ranks.rank];
  if (ranks.rank == seed % ranks.num_ranks) wrong.background_s = -1;
  const Told refused = plan(ranks, machine, wrong, false);
  check(refused.code == POISE_BAD_INPUT, "wrong input of a rank is an error of all", seed);
}

/// Returns how many checks failed, on all ranks together.
int run() {
  poise_mpi mpi;
  poise_communication ranks;
  poise_machine* machine = nullptr;
  check(poise_mpi_start(MPI_COMM_WORLD, &mpi, &ranks) == MPI_SUCCESS, "a communicator", 0);
  const std::string text = fmt::format("node:2 core:{}", ranks.num_ranks / 2);
  check(poise_machine_create(text.c_str(), &machine) == POISE_OK, "a machine", 0);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Random random(seed);
    const auto problem = random_problem(machine_from_text(text), random);
    const std::vector<OwnArrays> own = split(problem.view());
    compare_with_simulated(ranks, machine, own, seed);
    fail_somewhere(ranks, machine, own, seed);
  }
  poise_machine_destroy(machine);
  poise_mpi_end(&mpi);
  MPI_Allreduce(MPI_IN_PLACE, &num_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return num_wrong;
}

}  // namespace
}  // namespace poise::library

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int num_wrong = poise::library::run();
  MPI_Finalize();
  return num_wrong > 0 ? 1 : 0;
}
