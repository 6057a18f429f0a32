// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/learning.h"

#include <algorithm>
#include <pthread.h>

#include "poise/base/clock.h"

namespace poise::juggle {

namespace {

/// Four independent chains of integer operations (Marsaglia's xorshift), so that both a wider core
/// and a higher clock frequency give a higher speed.
std::uint64_t compute() {
  std::uint64_t chains[] = {1, 2, 3, 4};
  for (std::uint32_t step = 0; step < kTuning.probe_steps; ++step) {
    for (std::uint64_t& chain : chains) {
      chain ^= chain << 13;
      chain ^= chain >> 7;
      chain ^= chain << 17;
    }
  }
  return chains[0] ^ chains[1] ^ chains[2] ^ chains[3];
}

}  // namespace

void LearnedSpeeds::note(CpuId cpu, double rate) {
  Probes& probes = probes_of_[cpu];
  probes.last_rates[probes.count++ % kTuning.probes] = rate;
}

std::vector<double> LearnedSpeeds::of(const Cpus& cpus) const {
  std::vector<double> speeds(cpus.size(), 1);
  std::vector<double> best;
  for (const CpuId cpu : cpus) {
    if (!knows(cpu)) return speeds;
    const auto& rates = probes_of_.at(cpu).last_rates;
    best.push_back(*std::max_element(rates.begin(), rates.end()));
  }
  const auto [least, most] = std::minmax_element(best.begin(), best.end());
  if (best.empty() || *least > kTuning.equal_speeds * *most) return speeds;
  for (std::size_t i = 0; i < best.size(); ++i) speeds[i] = best[i] / *most;
  return speeds;
}

bool LearnedSpeeds::knows(CpuId cpu) const {
  const auto probes = probes_of_.find(cpu);
  return probes != probes_of_.end() && probes->second.count >= kTuning.probes;
}

CpuId LearnedSpeeds::next(const Cpus& cpus) const {
  const auto count = [&](CpuId cpu) {
    const auto probes = probes_of_.find(cpu);
    return probes == probes_of_.end() ? 0 : probes->second.count;
  };
  return *std::min_element(cpus.begin(), cpus.end(),
                           [&](CpuId a, CpuId b) { return count(a) < count(b); });
}

double computing_rate() {
  double rate = 0;
  for (int trial = 0; trial < kTuning.probe_trials; ++trial) {
    const double start_s = thread_cpu_now_s();
    volatile std::uint64_t result = compute();
    static_cast<void>(result);
    const double took_s = thread_cpu_now_s() - start_s;
    if (took_s > 0) rate = std::max(rate, kTuning.probe_steps / took_s);
  }
  return rate;
}

SpeedProbe::SpeedProbe() : thread_([this] { run(); }) {}

SpeedProbe::~SpeedProbe() {
  // Lets the probe thread run on any cpu, so that it ends soon.
  move(every_cpu());
  state_ = State::ends;
  state_.notify_one();
  thread_.join();
}

bool SpeedProbe::move(const CpuSet& cpus) {
  const auto words = cpus.words();
  return ::pthread_setaffinity_np(thread_.native_handle(), words.size_bytes(),
                                  reinterpret_cast<const cpu_set_t*>(words.data())) == 0;
}

bool SpeedProbe::start(CpuId cpu) {
  if (state_ == State::asked || !move(CpuSet({cpu}))) return false;
  result_ = {cpu, 0};
  state_ = State::asked;
  state_.notify_one();
  return true;
}

std::optional<ProbeResult> SpeedProbe::result() {
  if (state_ != State::done) return {};
  state_ = State::idle;
  return result_.rate > 0 ? std::optional(result_) : std::nullopt;
}

void SpeedProbe::run() {
  for (;;) {
    State state = state_;
    for (; state != State::asked && state != State::ends; state = state_) state_.wait(state);
    if (state == State::ends) return;
    result_.rate = computing_rate();
    auto asked = State::asked;
    state_.compare_exchange_strong(asked, State::done);
  }
}

}  // namespace poise::juggle
