// A trace of a context over time: which task ran where, which tasks were lent, and when threads
// idled.
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
  std::uint32_t thread =
      0;  // numbered in the order in which the threads of the rank ran their first task
  std::uint32_t function = 0, owner = 0;
  std::uint64_t slot = 0;  // index in the owner's table of lent tasks
};
/// Why one rank lent to another.
struct Reason {
  bool asked =
      false;  // the borrower sent a steal request; else the lender expected it to be idle soon
  bool times_known = false;  // of all functions; else the seconds below are not known
  std::uint32_t tasks = 0;   // in the loan
  struct Busy {
    double without_s = 0, with_s = 0;  // seconds from now on, without and with the loan
  };
  Busy lender, borrower;
};
struct Lent {
  double at_s = 0;
  std::uint32_t to = 0, owner = 0;
  std::uint64_t slot = 0;
  std::uint32_t function = 0;
  std::uint64_t bytes = 0;  // both ways
  Reason reason = {};
};
struct Waited {
  double begin_s = 0, end_s = 0;
};

struct RankTrace {
  std::vector<Ran> ran;
  std::vector<Lent> lent;
  std::vector<Waited> waits;
};

/// The trace as JSON for Perfetto and Chrome: a group per rank and a row per thread; tasks and idle
/// times in waits are slices, and an arrow leads from where a task was lent to where it ran.
/// `names`: of the functions.
std::string trace_json(std::span<const RankTrace> ranks, std::span<const std::string> names);

/// Records the events of one rank, the first kMaxEvents of each kind. Time 0 is when the first rank
/// of the node leaves a barrier in the constructor.
class TraceRecorder {
 public:
  /// Collective. `nodes`: Locality::nodes.
  TraceRecorder(MPI_Comm communicator, std::span<const std::uint32_t> nodes);

  void ran(double begin_s, double end_s, std::uint32_t function, std::uint32_t owner,
           std::uint64_t slot);
  void lent(Lent lent);
  void waited(double begin_s, double end_s);

  /// The events of all ranks, on rank 0. Collective.
  std::vector<RankTrace> gathered(MPI_Comm communicator) const;

 private:
  double begin_s_ = 0;
  std::mutex mutex_;
  std::map<std::thread::id, std::uint32_t> threads_;
  RankTrace own_;
};

}  // namespace poise::tasks
