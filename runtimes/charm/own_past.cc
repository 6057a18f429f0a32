// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/own_past.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace poise::charm {

namespace {

constexpr double kUnknown = -1;

/// Returns the largest of an object's loads at earlier decisions, each multiplied by the factor for
/// that decision. Negative if none of these loads is known.
template <typename Loads>
double usual_load_s(const Loads& loads_s, const Loads& factors) {
  double usual_s = kUnknown;
  for (std::size_t d = 1; d < loads_s.size(); ++d)
    if (loads_s[d] >= 0 && factors[d] > 0) usual_s = std::max(usual_s, loads_s[d] * factors[d]);
  return usual_s;
}

}  // namespace

/// Records the loads of this decision as the newest loads of each object, and shifts the earlier
/// loads back by one decision.
void OwnPast::record(const OwnArrays& arrays) {
  const auto comes_before = [](const Record& a, const Record& b) { return a.id < b.id; };
  std::sort(records_.begin(), records_.end(), comes_before);
  std::vector<Record> now(arrays.row_of_task.size());
  for (std::size_t t = 0; t < now.size(); ++t) {
    now[t].id = arrays.ids[t];
    now[t].loads_s.fill(kUnknown);
    const auto known = std::lower_bound(records_.begin(), records_.end(), now[t], comes_before);
    if (known != records_.end() && known->id == now[t].id)
      std::copy(known->loads_s.begin(), known->loads_s.end() - 1, now[t].loads_s.begin() + 1);
    now[t].loads_s[0] = arrays.load_s[t];
  }
  records_ = std::move(now);
}

std::uint64_t OwnPast::replace_spikes(Communicator& ranks, OwnArrays& arrays) {
  record(arrays);
  constexpr std::size_t kDecisions = std::tuple_size_v<Loads>;
  // First half: for each decision, the sum of the known loads. Second half: for each decision, the
  // number of known loads.
  std::vector<double> sums(2 * kDecisions);
  for (const Record& record : records_)
    for (std::size_t d = 0; d < kDecisions; ++d) {
      if (record.loads_s[d] < 0) continue;
      sums[d] += record.loads_s[d];
      ++sums[kDecisions + d];
    }
  ranks.sum(sums);
  const double mean_s = sums[0] / sums[kDecisions];
  Loads factors{};
  for (std::size_t d = 0; d < kDecisions; ++d)
    if (sums[d] > 0) factors[d] = mean_s * sums[kDecisions + d] / sums[d];
  const std::uint64_t num_objects = std::llround(sums[kDecisions]);  // sums are rounded
  const std::size_t most = max_spikes(num_objects);
  std::vector<std::size_t> spikes;
  for (std::size_t t = 0; t < records_.size() && spikes.size() <= most; ++t)
    if (const double usual_s = usual_load_s(records_[t].loads_s, factors);
        usual_s >= 0 && is_spike(arrays.load_s[t], usual_s))
      spikes.push_back(t);
  if (ranks.sum(std::uint64_t{spikes.size()}) > most) return num_objects;
  for (const std::size_t t : spikes) arrays.load_s[t] = usual_load_s(records_[t].loads_s, factors);
  return num_objects;
}

OwnPast OwnPast::after(Communicator& ranks, const std::vector<std::uint32_t>& rank_of_task,
                       std::uint64_t& num_arriving) const {
  Mail<Record> mail;
  for (std::size_t t = 0; t < records_.size(); ++t) mail[rank_of_task[t]].push_back(records_[t]);
  OwnPast next;
  num_arriving = 0;
  for (const auto& [rank, part] : ranks.exchange(mail)) {
    next.records_.insert(next.records_.end(), part.begin(), part.end());
    if (rank != ranks.rank()) num_arriving += part.size();
  }
  return next;
}

}  // namespace poise::charm
