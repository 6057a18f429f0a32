// The speeds of the cpus in use: as Linux tells, else as visits learn while the program runs.
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
  /// What visits cpus; made when it is first needed, for it is a thread. May throw
  /// std::system_error: the user may have no more threads for now.
  using MakeVisitor = std::function<std::unique_ptr<CpuVisitor>()>;
  /// The speeds that Linux tells of these cpus, as speeds_of.
  using Told = std::function<std::vector<double>(const Cpus&)>;

  Speeds(const Cpus& cpus, Told told, MakeVisitor make_visitor);

  /// Of the cpus, against the fastest.
  const std::vector<double>& all() const { return speeds_; }
  bool are_equal() const;

  /// Other cpus are in use.
  void set_cpus(const Cpus& cpus);

  /// Takes what the last visit has told. True when that may have changed the speeds.
  bool learn();

  /// Begins a visit, if one is due in this round, to one of the busy cpus: the clocks of others are
  /// low. At first every cpu is visited a few times soon, then one now and then. True when one
  /// begins.
  bool begin_visit(std::uint64_t round, const Cpus& busy);

 private:
  bool learns() const { return told_are_equal_ && cpus_.size() > 1; }

  Cpus cpus_;
  Told told_;
  MakeVisitor make_visitor_;
  std::vector<double> speeds_;
  bool told_are_equal_;  // Linux does not tell that they differ
  LearnedSpeeds learned_;
  std::unique_ptr<CpuVisitor> visitor_;
};

}  // namespace poise::juggle
