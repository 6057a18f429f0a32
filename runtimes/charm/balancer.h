// SPDX-License-Identifier: BSD-3-Clause
// The interface between Charm++ and the library: it takes Charm++'s statistics as plain rows and
// returns the new PE of each object. charmc compiles this header as well, so it must be valid
// C++17.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtimes/charm/questions.h"
#include "runtimes/charm/statistics.h"

namespace poise::charm {

/// An entry in the list of balancers from which `+balancer` chooses.
struct Listed {
  std::string name, summary;
};

/// The list has PoiseLB; NucoLB, NumaLB and TreeMatchTopoLB, which work as their papers describe;
/// and one balancer Poise…LB for each strategy of Poise. Charm++ 6.10 matches names by prefix, so
/// no name may be the beginning of another.
const std::vector<Listed>& balancers();

/// Returns the argument of +PoiseLB in this process.
std::string& setting();

/// OS index of the processing unit of the core to which the calling thread is bound; -1 if it is
/// not bound.
std::int32_t bound_core();

/// A PE that sends messages to an object, and must be told after a decision where the object is. To
/// save memory, only the index of the object's row is stored, because there may be as many
/// Locations as messages. The object's name and its new PE follow from the row.
struct Location {
  std::int32_t sender_pe = 0;
  std::uint32_t object = 0;  // its row
};

struct Decision {
  std::vector<std::int32_t> pe_of_object;  // one entry per row of objects, in their order
  /// Senders that might not know the new PE of an object to which they send messages, sorted by the
  /// sender's PE. Empty if the strategy uses no messages.
  std::vector<Location> locations;
  /// Questions that ask for the PEs of objects that receive messages but have no row in the
  /// statistics. In each question, `sender_pe` is an index into statistics.pes, and `step` is not
  /// set. Empty if the statistics cover all PEs, or if the strategy does not use messages.
  std::vector<Question> questions;
  // A warning to print. Empty if there is none or if it was printed before.
  std::string warning;
  /// The seconds that a decision took: for converting statistics to a workload and the placement
  /// back to PEs, and for the strategy.
  double convert_s = 0, decide_s = 0;
};

/// Returns the name and the knobs of the strategy that PoiseLB uses if +PoiseLB has the argument
/// `setting`. Throws std::runtime_error if a setting is invalid.
std::string strategy_with(const std::string& setting);

/// True if the balancer with index `which` in balancers() needs messages, for its strategy or for
/// the trace in POISE_TRACE. Throws std::runtime_error if `setting`, the argument of +PoiseLB, is
/// invalid.
bool wants_messages(std::size_t which, const std::string& setting);

/// Which PEs a balancer decides for: all of them, or one of several groups of PEs that decide
/// concurrently. The decisions for a group are not recorded, because a trace describes the whole
/// machine.
enum class Scope { all, group };

class Balancer {
 public:
  /// `which` is an index into balancers(). `setting` is the argument of +PoiseLB, or empty; it
  /// overrides POISE_STRATEGY. Throws std::runtime_error if a setting is invalid.
  Balancer(std::size_t which, const std::string& setting, Scope scope = Scope::all);
  ~Balancer();
  Balancer(const Balancer&) = delete;
  Balancer& operator=(const Balancer&) = delete;

  /// Never throws. The decision is always valid: it assigns each movable object to an available PE,
  /// given as an index into statistics.pes, and the other objects stay. If the strategy fails, only
  /// the movable objects on unavailable PEs move.
  Decision decide(const Statistics& statistics) noexcept;

  /// The history of decisions as bytes, for a checkpoint.
  std::vector<char> checkpoint() const;

  /// Restores the history from a checkpoint. If the bytes are invalid, it throws std::runtime_error
  /// and leaves the balancer unchanged.
  void restart(const std::vector<char>& checkpoint);

  /// The name and the knobs of the strategy, in the form that `poise plan` accepts.
  std::string strategy() const;

  /// True if the strategy or the trace uses messages. If not, the caller may omit the messages from
  /// the statistics.
  bool wants_messages() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace poise::charm
