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

/// The share of the sampled calls' time in which the rank waited.
double share_of(const Waiting& waiting) { return 1.0 * waiting.waited_ns / waiting.sampled_ns; }

/// The variance, in s^2, of the residuals: the wait of a call minus this share of its duration.
double variance_of_residuals(const Waiting& waiting) {
  const double share = share_of(waiting);
  const double residuals =
      waiting.wait_squares - 2 * share * waiting.products + share * share * waiting.time_squares;
  return std::max(0.0, residuals) / std::max(1.0, waiting.samples - 1.0);
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
  if (waiting.samples >= calls) return {1e-9 * waiting.waited_ns, 0};
  // Uses the ratio estimator for a sample without replacement (Cochran, Sampling Techniques, 1977,
  // section 6.4).
  const double n = waiting.samples, all = calls;
  const double variance = all * all * (1 - n / all) / n * variance_of_residuals(waiting);
  return {share_of(waiting) * 1e-9 * calls_ns, 1.96 * std::sqrt(variance)};
}

Estimate extrapolated(const Waiting& waiting, std::uint64_t calls, std::int64_t calls_ns,
                      std::uint64_t calls_elsewhere) {
  if (waiting.samples == 0 || waiting.sampled_ns <= 0) return {};
  // Two errors add up: calls deviate from the average share, and the share itself is estimated.
  const double n = waiting.samples, all = calls;
  const double variance = all * (1 + calls_elsewhere / n) * variance_of_residuals(waiting);
  return {share_of(waiting) * 1e-9 * calls_ns, 1.96 * std::sqrt(variance)};
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
