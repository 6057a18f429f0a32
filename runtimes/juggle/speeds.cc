// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/speeds.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "runtimes/juggle/tuning.h"

namespace poise::juggle {

Speeds::Speeds(const Cpus& cpus, Reported reported, MakeProbe make_probe)
    : cpus_(cpus),
      reported_(std::move(reported)),
      make_probe_(std::move(make_probe)),
      speeds_(reported_(cpus)),
      reported_equal_(are_equal()) {}

bool Speeds::are_equal() const {
  return std::all_of(speeds_.begin(), speeds_.end(), [](double speed) { return speed == 1; });
}

void Speeds::set_cpus(const Cpus& cpus) {
  cpus_ = cpus;
  speeds_ = reported_(cpus);
  reported_equal_ = are_equal();
  if (reported_equal_) speeds_ = learned_.of(cpus_);
}

bool Speeds::learn() {
  const auto probe = learns() && probe_ ? probe_->result() : std::nullopt;
  if (!probe) return false;
  learned_.note(probe->cpu, probe->rate);
  speeds_ = learned_.of(cpus_);
  return true;
}

bool Speeds::begin_probe(std::uint64_t round, const Cpus& busy) {
  if (!learns() || busy.empty() || round % kTuning.first_probe_rounds() != 0) return false;
  const CpuId next = learned_.next(busy);
  const std::uint64_t later = are_equal() ? kTuning.equal_probe_rounds() : kTuning.probe_rounds;
  if (learned_.knows(next) && round % later != 0) return false;
  try {
    if (!probe_) probe_ = make_probe_();
    return probe_->start(next);
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace poise::juggle
