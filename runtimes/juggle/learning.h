// The speeds of cpus of which Linux tells nothing (threads of one core, cores of a guest), learned
// while the program runs: a visitor computes on one cpu after another, beside the program's
// threads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "runtimes/juggle/cpus.h"

namespace poise::juggle {

/// What visits to cpus have told.
///
/// A cold clock, an interrupt or a busy sibling only ever slow a visit down, so the best of the
/// last visits counts; and speeds within a margin of one another are equal: cores of one kind are
/// that unequal for a while, and a wrong weight would unbalance.
class LearnedSpeeds {
 public:
  /// A visit computed at this rate, in any unit.
  void note(CpuId cpu, double rate);

  /// Against the fastest; all 1 until every cpu has been visited often enough, and where they are
  /// about equal.
  std::vector<double> of(const Cpus& cpus) const;

  /// Whether this one has been visited often enough.
  bool knows(CpuId cpu) const;

  /// Of these cpus (one at least) the one to visit next: the one visited least, the first of
  /// several.
  CpuId next(const Cpus& cpus) const;

 private:
  static constexpr std::size_t kVisits = 8;
  struct Visits {
    std::array<double, kVisits> last_rates = {};
    std::uint64_t count = 0;
  };
  std::map<CpuId, Visits> visits_of_;
};

struct Visit {
  CpuId cpu = 0;
  double rate = 0;  // steps of a fixed computation per second of cpu time
};

/// The rate at which the calling thread computes: cpu time, so others on the cpu do not count.
/// Takes about 0.1 ms of a core of 3 GHz.
double computing_rate();

/// Visits cpus when asked; tests visit simulated ones.
class CpuVisitor {
 public:
  virtual ~CpuVisitor() = default;
  /// Starts a visit. False while another is under way and for a cpu that may not be used.
  virtual bool visit(CpuId cpu) = 0;
  /// What the last visit has told, once.
  virtual std::optional<Visit> told() = 0;
};

/// A thread that visits cpus when asked. The caller's affinity stays as it is, for one that is set
/// would no longer widen with the cgroup's.
class Visitor : public CpuVisitor {
 public:
  Visitor();
  ~Visitor() override;
  Visitor(const Visitor&) = delete;
  Visitor& operator=(const Visitor&) = delete;

  /// Wakes the thread once, for it is moved while it sleeps.
  bool visit(CpuId cpu) override;
  std::optional<Visit> told() override;

 private:
  enum class State : int { idle, asked, told, ends };  // of a size that the kernel can wait for
  void run();
  bool move(const CpuSet& cpus);

  std::atomic<State> state_{State::idle};
  Visit visit_;
  std::thread thread_;
};

}  // namespace poise::juggle
