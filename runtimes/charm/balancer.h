// The door between Charm++'s world and the library's: plain rows in, a PE per object out. Also read
// by charmc, so this is C++17.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtimes/charm/statistics.h"

namespace poise::charm {

/// A balancer as `+balancer` knows it.
struct Listed {
  std::string name, summary;
};

/// PoiseLB, the papers' NucoLB, NumaLB and TreeMatchTopoLB, and Poise…LB for every other row of the
/// strategies' table. None is the beginning of another: Charm++ 6.10 takes beginnings for names.
const std::vector<Listed>& balancers();

/// What +PoiseLB says, in this process.
std::string& setting();

/// The processing unit of the core that the calling thread is bound to, or -1.
std::int32_t bound_core();

struct Decision {
  std::vector<std::int32_t> pe_of_object;  // in the order of the rows
  std::string warning;                     // to be shown; empty: none, or told before
  double convert_s = 0, decide_s = 0;      // rows to workload and back; the strategy
};

/// What a balancer decides about: all PEs, or one of several groups that decide at the same time.
/// These are not written down: a trace is of the whole machine.
enum class Scope { all, group };

class Balancer {
 public:
  /// `which` is a row of balancers(); `setting` is what follows +PoiseLB, if anything, and has the
  /// last word over POISE_STRATEGY. Throws std::runtime_error where a setting makes no sense.
  Balancer(std::size_t which, const std::string& setting, Scope scope = Scope::all);
  ~Balancer();
  Balancer(const Balancer&) = delete;
  Balancer& operator=(const Balancer&) = delete;

  /// Never throws, and what it answers may be carried out: every PE is a row and available, and
  /// what is not movable stays; or everything does, but for what is on a PE out of service.
  Decision decide(const Statistics& statistics) noexcept;

  /// What it remembers of its decisions, as bytes.
  std::vector<char> checkpoint() const;

  /// Goes on from there. Throws std::runtime_error, and is as it was, where the bytes make no
  /// sense.
  void restart(const std::vector<char>& checkpoint);

  /// Whether anyone looks at messages; else their rows may be left out.
  bool wants_messages() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace poise::charm
