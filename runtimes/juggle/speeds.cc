#include "runtimes/juggle/speeds.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "runtimes/juggle/tuning.h"

namespace poise::juggle {

Speeds::Speeds(const Cpus& cpus, Told told, MakeVisitor make_visitor)
    : cpus_(cpus),
      told_(std::move(told)),
      make_visitor_(std::move(make_visitor)),
      speeds_(told_(cpus)),
      told_are_equal_(are_equal()) {}

bool Speeds::are_equal() const {
  return std::all_of(speeds_.begin(), speeds_.end(), [](double speed) { return speed == 1; });
}

void Speeds::set_cpus(const Cpus& cpus) {
  cpus_ = cpus;
  speeds_ = told_(cpus);
  told_are_equal_ = are_equal();
  if (told_are_equal_) speeds_ = learned_.of(cpus_);
}

bool Speeds::learn() {
  const auto visit = learns() && visitor_ ? visitor_->told() : std::nullopt;
  if (!visit) return false;
  learned_.note(visit->cpu, visit->rate);
  speeds_ = learned_.of(cpus_);
  return true;
}

bool Speeds::begin_visit(std::uint64_t round, const Cpus& busy) {
  if (!learns() || busy.empty() || round % kTuning.first_visit_rounds != 0) return false;
  const CpuId next = learned_.next(busy);
  const std::uint64_t later = are_equal() ? kTuning.equal_visit_rounds : kTuning.visit_rounds;
  if (learned_.knows(next) && round % later != 0) return false;
  try {
    if (!visitor_) visitor_ = make_visitor_();
    return visitor_->visit(next);
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace poise::juggle
