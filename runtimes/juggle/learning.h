// SPDX-License-Identifier: BSD-3-Clause
// Measures the speeds of cpus where Linux reports none (hardware threads of one core, cores of a
// virtual machine) while the program runs: a probe thread computes on one cpu after another, beside
// the program's threads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "runtimes/juggle/cpus.h"
#include "runtimes/juggle/tuning.h"

namespace poise::juggle {

/// The speeds of cpus, computed from the results of probes.
///
/// A low clock frequency, an interrupt or a busy hyperthread can only slow a probe down, so the
/// best of the last probes counts. Speeds that differ by less than a margin count as equal: the
/// measured speeds of identical cores can differ that much for a while, and acting on such a
/// difference would unbalance the threads.
class LearnedSpeeds {
 public:
  /// Adds the result of a probe: its rate, in any unit.
  void note(CpuId cpu, double rate);

  /// Returns the speed of each cpu relative to the fastest. If any of the cpus has not been probed
  /// often enough, or if all are about equally fast, returns 1 for all.
  std::vector<double> of(const Cpus& cpus) const;

  /// True if the cpu has been probed often enough for its speed to be known.
  bool knows(CpuId cpu) const;

  /// Returns the cpu to probe next: the first of those with the fewest probes. Needs at least one
  /// cpu.
  CpuId next(const Cpus& cpus) const;

 private:
  struct Probes {
    std::array<double, kTuning.probes> last_rates = {};
    std::uint64_t count = 0;
  };
  std::map<CpuId, Probes> probes_of_;
};

struct ProbeResult {
  CpuId cpu = 0;
  double rate = 0;  // steps of a fixed computation per second of cpu time
};

/// Returns how fast the calling thread computes, in steps per second of its own cpu time, so that
/// other threads on the cpu do not matter. Takes about 0.1 ms on a core of 3 GHz.
double computing_rate();

/// Probes the speeds of cpus; tests use a simulated implementation.
class CpuProbe {
 public:
  virtual ~CpuProbe() = default;
  /// Starts a probe. Returns false if another probe is running or the cpu cannot be used.
  virtual bool start(CpuId cpu) = 0;
  /// Returns the result of the last probe. Returns nothing if the probe is still running or its
  /// result has been returned already.
  virtual std::optional<ProbeResult> result() = 0;
};

/// A thread that probes. It changes only its own affinity, not that of the thread that creates it:
/// once the affinity of a thread has been set, Linux no longer extends it when the cgroup's cpuset
/// grows.
class SpeedProbe : public CpuProbe {
 public:
  SpeedProbe();
  ~SpeedProbe() override;
  SpeedProbe(const SpeedProbe&) = delete;
  SpeedProbe& operator=(const SpeedProbe&) = delete;

  /// Moves the sleeping probe thread to the cpu, then wakes it for one probe.
  bool start(CpuId cpu) override;
  std::optional<ProbeResult> result() override;

 private:
  // The type is int, because std::atomic waits for an int in the kernel, without polling.
  enum class State : int { idle, asked, done, ends };
  void run();
  bool move(const CpuSet& cpus);

  std::atomic<State> state_{State::idle};
  ProbeResult result_;
  std::thread thread_;
};

}  // namespace poise::juggle
