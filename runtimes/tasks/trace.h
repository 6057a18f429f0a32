// What a context did over time, for a picture of it: which task ran where, what was lent, and when
// there was nothing to run.
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
  std::uint32_t thread = 0;  // in the order in which the rank's threads turned up
  std::uint32_t function = 0, home = 0;
  std::uint64_t slot = 0;  // of its record at home, if it was lent
};
/// Why one rank lent to another, in the words and numbers of the decision.
struct Reason {
  bool asked = false;        // the borrower did; else the lender took it for idle soon
  bool times_known = false;  // of the tasks; else there are no seconds
  std::uint32_t tasks = 0;   // of the loan, which may be one of several tasks
  struct Busy {
    double without_s = 0, with_s = 0;  // from now on, without and with the loan
  };
  Busy lender, borrower;
};
struct Lent {
  double at_s = 0;
  std::uint32_t to = 0, home = 0;
  std::uint64_t slot = 0;
  std::uint32_t function = 0;
  std::uint64_t bytes = 0;  // there and back
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

/// A picture for Perfetto and Chrome: a group per rank, a row per thread, tasks and idleness in
/// waits as slices, an arrow from where a task was lent, with the reason, to where it ran. `names`
/// of functions.
std::string trace_json(std::span<const RankTrace> ranks, std::span<const std::string> names);

/// Collects one rank's events, so many of each kind at most: those of the beginning. Times count
/// from the creation, which is collective, as a node's first rank leaves a barrier.
class TraceRecorder {
 public:
  static constexpr std::size_t kMaxEvents = 200'000;

  /// Collective. `nodes`: of each rank, see Locality.
  TraceRecorder(MPI_Comm communicator, std::span<const std::uint32_t> nodes);

  void ran(double begin_s, double end_s, std::uint32_t function, std::uint32_t home,
           std::uint64_t slot);
  void lent(Lent lent);
  void waited(double begin_s, double end_s);

  /// Of all ranks, at rank 0. Collective.
  std::vector<RankTrace> gathered(MPI_Comm communicator) const;

 private:
  double begin_s_ = 0;
  std::mutex mutex_;
  std::map<std::thread::id, std::uint32_t> threads_;
  RankTrace own_;
};

}  // namespace poise::tasks
