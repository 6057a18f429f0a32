// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/series.h"

#include <algorithm>
#include <map>

#include "runtimes/profile/tuning.h"

namespace poise::profile {

void Series::start(std::int64_t now_ns, const Sums& sums, const Machinery& machinery) {
  begin_ns_ = now_ns;
  totals_ = sums.totals;
  traffic_.assign(sums.traffic.totals().begin(), sums.traffic.totals().end());
  machinery_ = machinery;
}

Phase Series::cut(std::int64_t now_ns, const Sums& sums, const Machinery& machinery,
                  std::uint64_t next_label) {
  Phase phase{.label = label_, .begin_ns = begin_ns_, .end_ns = now_ns, .totals = sums.totals};
  phase.totals -= totals_;
  phase.queued_ns = machinery.queued_ns - machinery_.queued_ns;
  phase.useful_cpu_ns = useful_cpu_ns(phase.totals);
  phase.peak_bytes = machinery.peak_bytes;
  phase.cpu = machinery.cpu;
  const auto totals = sums.traffic.totals();
  for (std::size_t i = 0; i < totals.size(); ++i) {
    Traffic sent = totals[i];
    if (i < traffic_.size()) {
      sent.messages -= traffic_[i].messages;
      sent.bytes -= traffic_[i].bytes;
    }
    if (sent.messages != 0) phase.traffic.push_back(sent);
  }
  phases_.push_back(phase);
  start(now_ns, sums, machinery);
  label_ = has_labels_ ? next_label : 0;
  cuts_since_ = 0;
  if (phases_.size() >= tuning::kMaxPhases) halve();
  return phase;
}

/// Merges phases with the same label in pairs. Returns the number of labels whose last phase was
/// not merged.
std::size_t Series::merge_pairs() {
  std::map<std::uint64_t, std::size_t> open;  // label -> its phase that is not merged yet
  std::size_t size = 0;
  for (std::size_t i = 0; i < phases_.size(); ++i) {
    const std::uint64_t label = phases_[i].label;
    if (const auto first = open.find(label); first != open.end()) {
      merge(phases_[first->second], phases_[i]);
      open.erase(first);
      continue;
    }
    open[label] = size;
    if (size != i) phases_[size] = std::move(phases_[i]);
    ++size;
  }
  phases_.resize(size);
  return open.size();
}

void Series::drop_labels() {
  has_labels_ = false;
  label_ = 0;
  for (Phase& phase : phases_) phase.label = 0;
}

void Series::halve() {
  std::size_t unmerged = merge_pairs();
  if (phases_.size() > tuning::kMaxLabelled) {
    drop_labels();
    unmerged = merge_pairs();
  }
  if (unmerged <= 1 && label_ == 0) cuts_per_phase_ *= 2;
}

std::int64_t outside_longest_ns(std::span<const Phase> phases) {
  std::int64_t all_ns = 0, longest_ns = 0;
  for (const Phase& phase : phases) {
    all_ns += phase.end_ns - phase.begin_ns;
    longest_ns = std::max(longest_ns, phase.end_ns - phase.begin_ns);
  }
  return all_ns - longest_ns;
}

void merge_short(std::vector<Phase>& phases, const std::vector<std::int64_t>& longest_ns,
                 std::int64_t least_ns) {
  std::size_t size = 0;
  std::int64_t length_ns = 0;  // length of the phase that is being merged
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const bool joins =
        size > 0 && length_ns < least_ns && phases[size - 1].label == phases[i].label;
    if (joins) {
      merge(phases[size - 1], phases[i]);
      length_ns += longest_ns[i];
      continue;
    }
    if (size != i) phases[size] = std::move(phases[i]);
    ++size;
    length_ns = longest_ns[i];
  }
  phases.resize(size);
}

}  // namespace poise::profile
