// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/phase.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "poise/base/enum_index.h"

namespace poise::profile {

namespace {

template <typename Combine>
void combine(Totals& into, const Totals& other, const Combine& how) {
  into.useful_ns = how(into.useful_ns, other.useful_ns);
  into.long_wall_ns = how(into.long_wall_ns, other.long_wall_ns);
  into.long_cpu_ns = how(into.long_cpu_ns, other.long_cpu_ns);
  into.useful_queued_ns = how(into.useful_queued_ns, other.useful_queued_ns);
  for (std::size_t k = 0; k < kNumKinds; ++k) {
    into.mpi_ns[k] = how(into.mpi_ns[k], other.mpi_ns[k]);
    into.calls[k] = how(into.calls[k], other.calls[k]);
  }
  into.not_understood = how(into.not_understood, other.not_understood);
  into.outside_messages = how(into.outside_messages, other.outside_messages);
  for (std::size_t w = 0; w < kNumWaits; ++w) {
    into.may_wait_ns[w] = how(into.may_wait_ns[w], other.may_wait_ns[w]);
    into.may_wait_calls[w] = how(into.may_wait_calls[w], other.may_wait_calls[w]);
  }
}

void merge_traffic(std::vector<Traffic>& into, const std::vector<Traffic>& later) {
  const auto before = [](const Traffic& a, const Traffic& b) {
    return std::pair(a.peer, a.is_fetched) < std::pair(b.peer, b.is_fetched);
  };
  into.insert(into.end(), later.begin(), later.end());
  std::sort(into.begin(), into.end(), before);
  std::size_t last = 0;
  for (std::size_t i = 1; i < into.size(); ++i) {
    if (before(into[last], into[i])) {
      into[++last] = into[i];
      continue;
    }
    into[last].messages += into[i].messages;
    into[last].bytes += into[i].bytes;
  }
  if (!into.empty()) into.resize(last + 1);
}

}  // namespace

Totals& Totals::operator+=(const Totals& other) {
  combine(*this, other, std::plus<>());
  return *this;
}

Totals& Totals::operator-=(const Totals& other) {
  combine(*this, other, std::minus<>());
  return *this;
}

std::int64_t useful_cpu_ns(const Totals& totals) {
  return totals.long_cpu_ns + (totals.useful_ns - totals.long_wall_ns);
}

Estimate estimated(const Waiting& waiting, std::uint64_t calls, std::int64_t calls_ns) {
  if (waiting.samples == 0 || waiting.sampled_ns <= 0) return {};
  const double waited_s = 1e-9 * waiting.waited_ns;
  if (waiting.samples >= calls) return {waited_s, 0};
  // Uses the ratio estimator for a sample without replacement (Cochran, Sampling Techniques, 1977,
  // section 6.4).
  const double n = waiting.samples, all = calls;
  const double share = waited_s / (1e-9 * waiting.sampled_ns);
  const double residuals = std::max(0.0, waiting.wait_squares - 2 * share * waiting.products +
                                             share * share * waiting.time_squares);
  const double variance = all * all * (1 - n / all) / n * residuals / std::max(1.0, n - 1);
  return {share * 1e-9 * calls_ns, 1.96 * std::sqrt(variance)};
}

Estimate waited(const Phase& phase, WaitsFor what) {
  const auto w = index_of(what);
  return estimated(phase.waiting[w], phase.totals.may_wait_calls[w], phase.totals.may_wait_ns[w]);
}

void merge(Phase& into, const Phase& later) {
  into.end_ns = later.end_ns;
  into.totals += later.totals;
  into.useful_cpu_ns += later.useful_cpu_ns;
  into.queued_ns += later.queued_ns;
  into.peak_bytes = std::max(into.peak_bytes, later.peak_bytes);
  if (later.cpu >= 0) into.cpu = later.cpu;
  merge_traffic(into.traffic, later.traffic);
}

}  // namespace poise::profile
