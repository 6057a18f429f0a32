// SPDX-License-Identifier: BSD-3-Clause
// Runs the tasks of tasks_peers.cc with StarPU-MPI. StarPU-MPI does not balance between ranks: the
// program names the rank of each task, here each rank in turn. Rank 0 owns all data and prints one
// line of JSON.
#include <iostream>
#include <mpi.h>
#include <nlohmann/json.hpp>
#include <starpu_mpi.h>
#include <vector>

#include "bench/tasks/peer_case.h"
#include "bench/tasks/timed_work.h"

#include "poise/base/error.h"

namespace {

namespace bench = poise::bench;

template <void (*kBody)(std::span<const char>, std::span<char>, double)>
void run_body(void* buffers[], void* arguments) {
  double us = 0;
  starpu_codelet_unpack_args(arguments, &us);
  const auto vector = [&](int i) {
    return std::span(reinterpret_cast<char*>(STARPU_VECTOR_GET_PTR(buffers[i])),
                     STARPU_VECTOR_GET_NX(buffers[i]));
  };
  kBody(vector(0), vector(1), us);
}

starpu_codelet codelet(bool sleeps) {
  starpu_codelet code;
  starpu_codelet_init(&code);
  code.cpu_funcs[0] = sleeps ? run_body<bench::sleep_task> : run_body<bench::compute_task>;
  code.nbuffers = 2;
  code.modes[0] = STARPU_R;
  code.modes[1] = STARPU_W;
  return code;
}

/// StarPU's handles of the data of all tasks. The data themselves are in the memory of rank 0.
class Handles {
 public:
  Handles(bench::PeerTasks& tasks, int rank) {
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      in_.push_back(registered(rank == 0 ? tasks.in(t).data() : nullptr, tasks.bytes_in));
      out_.push_back(registered(rank == 0 ? tasks.out(t).data() : nullptr, tasks.bytes_out));
    }
  }
  ~Handles() {
    for (auto* const all : {&in_, &out_})
      for (const starpu_data_handle_t handle : *all) starpu_data_unregister(handle);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  starpu_data_handle_t in(std::size_t task) const { return in_[task]; }
  starpu_data_handle_t out(std::size_t task) const { return out_[task]; }

 private:
  starpu_data_handle_t registered(char* data, std::size_t bytes) {
    starpu_data_handle_t handle = nullptr;
    starpu_vector_data_register(&handle, data ? STARPU_MAIN_RAM : -1,
                                reinterpret_cast<std::uintptr_t>(data),
                                static_cast<std::uint32_t>(bytes), 1);
    starpu_mpi_data_register(handle, next_tag_++, 0);
    return handle;
  }

  std::int64_t next_tag_ = 1;
  std::vector<starpu_data_handle_t> in_, out_;
};

void run(const Handles& handles, starpu_codelet& code, const bench::PeerTasks& tasks,
         int num_ranks) {
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    double us = tasks.us[t];
    const int rank = static_cast<int>(t) % num_ranks;
    const int failed = starpu_mpi_task_insert(MPI_COMM_WORLD, &code, STARPU_R, handles.in(t),
                                              STARPU_W, handles.out(t), STARPU_VALUE, &us,
                                              sizeof us, STARPU_EXECUTE_ON_NODE, rank, 0);
    if (failed) poise::fail("starpu_mpi_task_insert failed with status {}", failed);
  }
  starpu_mpi_wait_for_all(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  bench::PeerCase what;
  if (const auto over = what.parse(argc, argv, "Tasks by StarPU-MPI", "tasks_starpu")) return *over;
  int level = 0, rank = 0, num_ranks = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  bench::calibrate();
  if (starpu_mpi_init_conf(nullptr, nullptr, 0, MPI_COMM_WORLD, nullptr) != 0)
    poise::fail("StarPU-MPI cannot start");
  bench::PeerTasks tasks = bench::tasks_of(what, true);
  starpu_codelet code = codelet(what.sleep);
  std::vector<double> seconds;
  for (int i = 0; i < what.repeats; ++i) {
    const Handles handles(tasks, rank);
    seconds.push_back(bench::seconds_of([&] { run(handles, code, tasks, num_ranks); }));
  }
  if (rank == 0) {
    bench::check(tasks, "StarPU-MPI");
    std::cout << what.row(num_ranks, {{"starpu", seconds}}).dump() << '\n';
  }
  starpu_mpi_shutdown();
  MPI_Finalize();
  return 0;
}
