// SPDX-License-Identifier: BSD-3-Clause
// A trace of a context over time: which task ran on which rank, which tasks were lent, and when
// threads were idle.
#pragma once

#include <cstdint>
#include <map>
#include <mpi.h>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace poise::tasks {

struct Ran {
  double begin_s = 0, end_s = 0;
  // Number of the thread. Threads of a rank are numbered in the order in which they ran their first
  // task.
  std::uint32_t thread = 0;
  std::uint32_t function = 0, owner = 0;
  std::uint64_t slot = 0;  // index in the owner's table of lent tasks
};
/// The reason why one rank lent tasks to another.
struct Reason {
  // True if the borrower sent a steal request. False if the lender acted by itself, because it
  // expected that the borrower would soon be idle.
  bool asked = false;
  // True if the run times of all functions are known. Otherwise the times in `lender` and
  // `borrower` are meaningless.
  bool times_known = false;
  std::uint32_t tasks = 0;  // number of tasks in the loan
  struct Busy {
    // The expected time until the rank has no task left: without the loan, and with it.
    double without_s = 0, with_s = 0;
  };
  Busy lender, borrower;
};
struct Lent {
  double at_s = 0;
  std::uint32_t to = 0, owner = 0;
  std::uint64_t slot = 0;
  std::uint32_t function = 0;
  std::uint64_t bytes = 0;  // bytes in both directions
  Reason reason = {};
};
struct Waited {
  double begin_s = 0, end_s = 0;
};

struct RankTrace {
  std::vector<Ran> ran;
  std::vector<Lent> lent;
  std::vector<Waited> waits;
  std::uint32_t num_threads = 1;  // threads of the context, including those that ran no task
};

/// True if the recorder has reached its limit for a kind of event, so that further events of this
/// kind may be missing.
bool is_cut(const RankTrace& rank);

/// Returns the trace as JSON for Perfetto and Chrome: a group per rank, a row per thread. Tasks and
/// idle times in waits are slices; arrows lead from where a task was lent to where it ran. `names`
/// has the names of the functions.
std::string trace_json(std::span<const RankTrace> ranks, std::span<const std::string> names);

/// Records the events of one rank, but only the first kMaxEvents of each kind. Time 0 is the time
/// at which the lowest rank of the node leaves a barrier in the constructor.
class TraceRecorder {
 public:
  /// Collective. `nodes` has the node of each rank (Locality::nodes), and `num_threads` is the
  /// number of threads that run tasks on this rank.
  TraceRecorder(MPI_Comm communicator, std::span<const std::uint32_t> nodes,
                std::uint32_t num_threads);

  void ran(double begin_s, double end_s, std::uint32_t function, std::uint32_t owner,
           std::uint64_t slot);
  void lent(Lent lent);
  void waited(double begin_s, double end_s);

  /// Gathers the events of all ranks on rank 0. Collective.
  std::vector<RankTrace> gathered(MPI_Comm communicator) const;

 private:
  double begin_s_ = 0;
  std::mutex mutex_;
  std::map<std::thread::id, std::uint32_t> threads_;
  RankTrace own_;
};

}  // namespace poise::tasks
