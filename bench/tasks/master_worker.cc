// SPDX-License-Identifier: BSD-3-Clause

#include "bench/tasks/master_worker.h"

#include <cstring>
#include <mpi.h>

namespace poise::bench {

namespace {

constexpr int kTask = 1, kResult = 2, kStop = 3;

// Runs tasks that the master sends. The length of a task and its data arrive in one message.
void work(const PeerTasks& sizes, const TaskBody& body) {
  std::vector<char> task(sizeof(double) + sizes.bytes_in), result(sizes.bytes_out);
  for (;;) {
    MPI_Status status;
    MPI_Recv(task.data(), static_cast<int>(task.size()), MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD,
             &status);
    if (status.MPI_TAG == kStop) return;
    double us = 0;
    std::memcpy(&us, task.data(), sizeof us);
    body(std::span(task).subspan(sizeof us), result, us);
    MPI_Send(result.data(), static_cast<int>(result.size()), MPI_BYTE, 0, kResult, MPI_COMM_WORLD);
  }
}

class Master {
 public:
  Master(PeerTasks& tasks, int num_workers)
      : tasks_(tasks),
        message_(sizeof(double) + tasks.bytes_in),
        task_of_(static_cast<std::size_t>(num_workers) + 1) {}

  void run(const TaskBody& body) {
    for (int worker = 1; worker < std::ssize(task_of_); ++worker) send_next(worker);
    while (next_ < tasks_.size()) {
      while (receive(false)) {
      }
      if (next_ == tasks_.size()) break;
      const std::size_t own = next_++;
      body(tasks_.in(own), tasks_.out(own), tasks_.us[own]);
    }
    while (num_sent_ > 0) receive(true);
    for (int worker = 1; worker < std::ssize(task_of_); ++worker)
      MPI_Send(nullptr, 0, MPI_BYTE, worker, kStop, MPI_COMM_WORLD);
  }

 private:
  void send_next(int worker) {
    if (next_ == tasks_.size()) return;
    std::memcpy(message_.data(), &tasks_.us[next_], sizeof(double));
    std::memcpy(message_.data() + sizeof(double), tasks_.in(next_).data(), tasks_.bytes_in);
    MPI_Send(message_.data(), static_cast<int>(message_.size()), MPI_BYTE, worker, kTask,
             MPI_COMM_WORLD);
    task_of_[static_cast<std::size_t>(worker)] = next_++;
    ++num_sent_;
  }

  // Receives a result and sends the worker its next task. Returns false if there is no result.
  bool receive(bool waits) {
    MPI_Status status;
    int has_come = 1;
    if (waits)
      MPI_Probe(MPI_ANY_SOURCE, kResult, MPI_COMM_WORLD, &status);
    else
      MPI_Iprobe(MPI_ANY_SOURCE, kResult, MPI_COMM_WORLD, &has_come, &status);
    if (!has_come) return false;
    const std::span<char> out = tasks_.out(task_of_[static_cast<std::size_t>(status.MPI_SOURCE)]);
    MPI_Recv(out.data(), static_cast<int>(out.size()), MPI_BYTE, status.MPI_SOURCE, kResult,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    --num_sent_;
    send_next(status.MPI_SOURCE);
    return true;
  }

  PeerTasks& tasks_;
  std::vector<char> message_;
  std::vector<std::size_t> task_of_;  // per worker
  std::size_t next_ = 0, num_sent_ = 0;
};

}  // namespace

void run_by_master_and_workers(PeerTasks& tasks, const TaskBody& body) {
  int rank = 0, num_ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  if (rank > 0)
    work(tasks, body);
  else
    Master(tasks, num_ranks - 1).run(body);
}

}  // namespace poise::bench
