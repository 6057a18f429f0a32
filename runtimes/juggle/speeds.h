// SPDX-License-Identifier: BSD-3-Clause
// The speeds of the cpus in use, either as Linux reports them or as probes measure them while the
// program runs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "runtimes/juggle/cpus.h"
#include "runtimes/juggle/learning.h"

namespace poise::juggle {

class Speeds {
 public:
  /// A function that creates the probe. The probe starts a thread, so this function is not called
  /// before the first probe is due. Throws std::system_error if the user has reached the limit on
  /// threads.
  using MakeProbe = std::function<std::unique_ptr<CpuProbe>()>;
  /// A function that returns the speeds of given cpus as Linux reports them, such as speeds_of().
  using Reported = std::function<std::vector<double>(const Cpus&)>;

  Speeds(const Cpus& cpus, Reported reported, MakeProbe make_probe);

  /// The speed of each cpu, relative to the fastest.
  const std::vector<double>& all() const { return speeds_; }
  bool are_equal() const;

  /// Sets the cpus in use; to be called when they change.
  void set_cpus(const Cpus& cpus);

  /// Takes over the result of the last probe. Returns true if the speeds may have changed.
  bool learn();

  /// Probes one of the busy cpus if a probe is due in this round. Idle cpus are not probed, because
  /// they run at a low clock. Each cpu is probed several times soon after the start, then rarely.
  /// Returns true if a probe starts.
  bool begin_probe(std::uint64_t round, const Cpus& busy);

 private:
  bool learns() const { return reported_equal_ && cpus_.size() > 1; }

  Cpus cpus_;
  Reported reported_;
  MakeProbe make_probe_;
  std::vector<double> speeds_;
  bool reported_equal_;  // Linux reports no differences in speed
  LearnedSpeeds learned_;
  std::unique_ptr<CpuProbe> probe_;
};

}  // namespace poise::juggle
