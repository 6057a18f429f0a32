// SPDX-License-Identifier: BSD-3-Clause
// Compares lending with other ways to run tasks that all belong to rank 0: without lending, with a
// master and workers written by hand, and as OpenMP tasks in one process. Runs of the four ways
// alternate. Every result is checked. Rank 0 prints one line of JSON.
#include <iostream>
#include <map>
#include <mpi.h>
#include <string>

#include "bench/tasks/master_worker.h"
#include "bench/tasks/timed_work.h"
#include "runtimes/tasks/context.h"

namespace {

namespace bench = poise::bench;
namespace tasks = poise::tasks;

const auto kCompute = tasks::function("compute", bench::compute_task);
const auto kSleep = tasks::function("sleep", bench::sleep_task);

void lend(tasks::Context& context, const bench::PeerCase& what, bench::PeerTasks& all) {
  for (std::size_t t = 0; t < all.size(); ++t)
    context.submit(what.sleep ? kSleep : kCompute, tasks::in(std::span<const char>(all.in(t))),
                   tasks::out(all.out(t)), all.us[t]);
  context.wait();
}

void run_by_openmp(bench::PeerTasks& all, bench::TaskBody body, [[maybe_unused]] int threads) {
  if (all.size() == 0) return;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (std::size_t t = 0; t < all.size(); ++t) {
#pragma omp task shared(all, body) firstprivate(t)
    body(all.in(t), all.out(t), all.us[t]);
  }
}

std::map<std::string, std::vector<double>> measure(const bench::PeerCase& what, int rank,
                                                   int num_ranks) {
  tasks::Context none(MPI_COMM_WORLD, {.settings = "policy=none"}), lending(MPI_COMM_WORLD);
  bench::PeerTasks all = bench::tasks_of(what, rank == 0);
  const bench::TaskBody body = what.sleep ? bench::sleep_task : bench::compute_task;
  const std::vector<std::pair<std::string, std::function<void()>>> ways = {
      {"alone", [&] { lend(none, what, all); }},
      {"lending", [&] { lend(lending, what, all); }},
      {"master_worker", [&] { bench::run_by_master_and_workers(all, body); }},
      {"openmp", [&] { run_by_openmp(all, body, num_ranks); }}};
  std::map<std::string, std::vector<double>> seconds;
  const int last = static_cast<int>(ways.size()) - 1;
  for (int i = 0; i < what.repeats; ++i)  // every second repeat runs in reverse order
    for (int w = 0; w <= last; ++w) {
      const auto& [name, run] = ways[static_cast<std::size_t>(i % 2 == 0 ? w : last - w)];
      seconds[name].push_back(bench::seconds_of(run));
      bench::check(all, name);
    }
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  bench::PeerCase what;
  if (const auto over = what.parse(
          argc, argv, "Lending beside a master and workers, and beside OpenMP", "tasks_peers"))
    return *over;
  int level = 0, rank = 0, num_ranks = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  bench::calibrate();
  const auto seconds = measure(what, rank, num_ranks);
  if (rank == 0) std::cout << what.row(num_ranks, seconds).dump() << '\n';
  MPI_Finalize();
  return 0;
}
