// SPDX-License-Identifier: BSD-3-Clause
// Compares the ranks' samples of collectives, to find which rank was the last in each of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtimes/profile/clock.h"
#include "runtimes/profile/samples.h"
#include "runtimes/profile/wait.h"

namespace poise::profile {

/// The data that a rank has about a communicator when the program frees the communicator, or at the
/// end of the program. Ranks may free a communicator at different times, so they compare their
/// samples only at the end.
struct Sampled {
  std::uint64_t id = 0;  // the same on all ranks of the communicator
  int rank = 0, size = 1;
  int own_world_rank = 0;
  std::vector<Sample> samples = {};
  /// The calls of this rank that waited for non-blocking collectives.
  struct Completion {
    std::uint64_t sequence = 0;  // of the sample
    std::int64_t wait_begun_ns = 0, took_ns = 0;
  };
  std::vector<Completion> completions = {};
  /// World ranks of the communicator's ranks `rank - step` and `rank + step`, for the steps 1, 2, 4
  /// and so on below `size`; -1 if there is no such rank in MPI_COMM_WORLD.
  std::vector<int> before = {}, after = {};
};

/// Finds which rank arrived last in each collective, among the ranks for which others wait. The
/// ranks of each communicator form a binomial tree with rank 0 as its root. Reports go up the tree
/// in rounds, from rank r to rank r - 1, r - 2, r - 4 and so on, and then down in the opposite
/// order. Each rank sends and receives at most one report per communicator and round. A report that
/// goes up describes consecutive ranks, the first of which is its sender. So for each of its
/// children in the tree, a rank also learns which rank was last among those with lower numbers than
/// the child. In MPI_Scan, the child waits for these ranks.
class LastArrivals {
 public:
  /// `max_error_ns` is the maximum error of the clocks of all ranks.
  LastArrivals(std::vector<std::unique_ptr<Sampled>> sampled, const CommonClock& clock,
               std::int64_t max_error_ns = 0);

  /// The number of rounds in which the reports of this rank's communicators go up the tree. The
  /// reports go down in as many rounds.
  int num_rounds() const;
  /// The reports of a round, by world rank of the receiver.
  std::map<int, std::string> reports_up(int round);
  std::map<int, std::string> reports_down(int round);
  /// Reads reports of other ranks. Ignores bytes that are not a report.
  void read_up(std::string_view reports);
  void read_down(std::string_view reports);
  /// Returns the waits of this rank. To be called after the last round of messages. Leaves out a
  /// communicator if its ranks have not all sampled the same calls.
  std::vector<Wait> waits() const;

 private:
  /// The summary of a collective, over the ranks whose samples this rank knows. It says which rank
  /// arrived last, among those for which others wait, and when. If ranks may overtake each other,
  /// it also says when the first rank left.
  struct Entry {
    std::int64_t entered_ns = 0, left_ns = 0;  // on the common clock
    std::int32_t world_rank = -1;
  };
  struct Part {
    std::unique_ptr<Sampled> own;
    std::int64_t num_ranks = 1;  // number of ranks whose samples are in `last`
    std::vector<Entry> last = {};
    /// For each child in the tree, in the order of rounds: the entries of the collectives with
    /// `is_for_lower`. An entry describes this rank and the ranks between this rank and the child.
    std::vector<std::vector<Entry>> before_child = {};
  };
  Wait wait_of(const Sample& own, const Entry& last) const;
  bool was_overtaken(const Entry& last) const;
  static void append(const Part& part, const std::vector<Entry>& last, std::string& report);
  static void merge(const Entry& other, Entry& entry);
  static std::vector<Entry> last_of_lower(const Part& part);
  static std::vector<Entry> last_for_child(const Part& part, int round);
  Part* take(std::string_view& reports, std::int64_t& num_ranks, std::vector<Entry>& last);

  CommonClock clock_;
  std::int64_t max_error_ns_ = 0;
  std::map<std::uint64_t, Part> parts_;  // by id
};

}  // namespace poise::profile
