// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/juggle.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "poise/base/check.h"
#include "poise/online/juggle_tuning.h"

namespace poise {

namespace {

/// Relative difference between two measured speeds that may be a mere rounding error.
constexpr double kRounding = 1e-9;

struct Average {
  double sum = 0;
  std::uint32_t count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  double value() const { return count == 0 ? 0 : sum / count; }
};

struct Averages {
  std::vector<Average> progress_of_place, progress_of_domain, speed_of_domain;
};

DomainId domain_of(const JuggleView& view, PlaceId p) {
  return view.domain_of.empty() ? 0 : view.domain_of[p];
}

DomainId num_domains(std::span<const DomainId> domain_of) {
  return domain_of.empty() ? 1 : *std::max_element(domain_of.begin(), domain_of.end()) + 1;
}

Averages averages(const JuggleView& view) {
  const DomainId domains = num_domains(view.domain_of);
  Averages averages{std::vector<Average>(view.speed.size()), std::vector<Average>(domains),
                    std::vector<Average>(domains)};
  for (ThreadId t = 0; t < view.place_of.size(); ++t) {
    const PlaceId p = view.place_of[t];
    averages.progress_of_place[p].add(view.progress_s[t]);
    averages.progress_of_domain[domain_of(view, p)].add(view.progress_s[t]);
  }
  for (PlaceId p = 0; p < view.speed.size(); ++p)
    if (averages.progress_of_place[p].count > 0)
      averages.speed_of_domain[domain_of(view, p)].add(view.speed[p]);
  return averages;
}

/// Returns the threads of all places in turn: the first thread of each place, then the second
/// thread of each place, and so on.
std::vector<ThreadId> in_turns(const std::vector<std::vector<ThreadId>>& threads_on,
                               std::vector<PlaceId> places) {
  std::vector<ThreadId> turns;
  for (std::size_t round = 0; !places.empty(); ++round) {
    // Drops places whose threads have all been visited: if one place has nearly all threads,
    // visiting every place in each round would take quadratic time.
    std::erase_if(places, [&](PlaceId p) { return round >= threads_on[p].size(); });
    for (const PlaceId p : places) turns.push_back(threads_on[p][round]);
  }
  return turns;
}

/// Returns the candidates for a swap of each place: on a slow place the threads that are behind,
/// the least advanced first; on a fast place the threads that are ahead, the most advanced first.
std::vector<std::vector<ThreadId>> candidates(const JuggleView& view, const Averages& averages,
                                              const std::vector<bool>& is_fast, double margin_s) {
  std::vector<ThreadId> order(view.place_of.size());
  std::iota(order.begin(), order.end(), ThreadId{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](ThreadId a, ThreadId b) { return view.progress_s[a] < view.progress_s[b]; });
  std::vector<std::vector<ThreadId>> threads_on(view.speed.size());
  for (const ThreadId t : order) {
    const PlaceId p = view.place_of[t];
    const double average_s = averages.progress_of_domain[domain_of(view, p)].value();
    const bool is_behind = view.progress_s[t] < average_s + margin_s;
    if (is_behind != is_fast[p]) threads_on[p].push_back(t);
  }
  for (PlaceId p = 0; p < threads_on.size(); ++p)
    if (is_fast[p]) std::reverse(threads_on[p].begin(), threads_on[p].end());
  return threads_on;
}

/// The threads of a place while even_out() moves ready threads between places.
struct ReadyPlace {
  std::uint32_t num_ready = 0, num_threads = 0;
  /// The ready threads of the place that may still move, the least advanced last. They are given as
  /// indices into a list in ascending order of progress. Threads that have moved to this place are
  /// not included, because no thread moves twice.
  std::vector<std::size_t> leaving = {};

  auto load() const { return std::pair(num_ready, num_threads); }
};

void even_out_domain(std::span<const PlaceId> domain, std::span<const ThreadId> ready,
                     std::vector<ReadyPlace>& places, std::vector<Move>& moves) {
  const auto has_less = [&](PlaceId a, PlaceId b) { return places[a].load() < places[b].load(); };
  const auto leaves_later = [&](PlaceId a, PlaceId b) {
    const ReadyPlace &one = places[a], &other = places[b];
    if (one.num_ready != other.num_ready) return one.num_ready < other.num_ready;
    if (one.leaving.empty() || other.leaving.empty())
      return one.leaving.size() < other.leaving.size();
    return one.leaving.back() > other.leaving.back();
  };
  while (!domain.empty()) {
    const PlaceId to = *std::min_element(domain.begin(), domain.end(), has_less);
    ReadyPlace& from = places[*std::max_element(domain.begin(), domain.end(), leaves_later)];
    if (places[to].num_ready + 2 > from.num_ready) return;
    moves.push_back({ready[from.leaving.back()], to});
    from.leaving.pop_back();
    --from.num_ready;
    --from.num_threads;
    ++places[to].num_ready;
    ++places[to].num_threads;
  }
}

}  // namespace

std::vector<Swap> juggle_swaps(const JuggleView& view, double margin_s) {
  POISE_CHECK(view.progress_s.size() == view.place_of.size());
  POISE_CHECK(view.domain_of.empty() || view.domain_of.size() == view.speed.size());
  const Averages means = averages(view);
  const PlaceId num_places = view.speed.size();
  std::vector<bool> is_fast(num_places);
  for (PlaceId p = 0; p < num_places; ++p)
    is_fast[p] =
        view.speed[p] > means.speed_of_domain[domain_of(view, p)].value() * (1 + kRounding);
  if (std::find(is_fast.begin(), is_fast.end(), true) == is_fast.end()) return {};
  const auto threads_on = candidates(view, means, is_fast, margin_s);

  std::vector<PlaceId> by_progress(num_places);
  std::iota(by_progress.begin(), by_progress.end(), PlaceId{0});
  std::stable_sort(by_progress.begin(), by_progress.end(), [&](PlaceId a, PlaceId b) {
    return means.progress_of_place[a].value() < means.progress_of_place[b].value();
  });

  const DomainId domains = num_domains(view.domain_of);
  std::vector<std::vector<PlaceId>> slow(domains), fast(domains);
  for (const PlaceId p : by_progress)
    if (!is_fast[p]) slow[domain_of(view, p)].push_back(p);
  for (auto p = by_progress.rbegin(); p != by_progress.rend(); ++p)
    if (is_fast[*p]) fast[domain_of(view, *p)].push_back(*p);

  std::vector<Swap> swaps;
  for (DomainId d = 0; d < domains; ++d) {
    const auto behind = in_turns(threads_on, slow[d]), ahead = in_turns(threads_on, fast[d]);
    for (std::size_t i = 0; i < std::min(behind.size(), ahead.size()); ++i)
      swaps.push_back({behind[i], ahead[i]});
  }
  return swaps;
}

double measured_speed(double gained_s, std::uint32_t num_threads, double real_s, double idle_s) {
  if (num_threads == 0) return 0;
  if (gained_s <= 0) return std::min(idle_s, real_s);
  if (idle_s >= real_s) return real_s;
  const double mean_s = gained_s / num_threads;
  return std::min(real_s, mean_s * real_s / (real_s - idle_s));
}

void remove_noise(std::span<double> speed, double tolerance) {
  Average average;
  for (const double value : speed)
    if (value > 0) average.add(value);
  for (double& value : speed)
    if (value > 0 && std::abs(value - average.value()) < tolerance * average.value())
      value = average.value();
}

bool is_waiting(const WaitReport& report, bool shares_place, const JuggleTuning& tuning) {
  return report.is_inside ||
         report.since_yield_s < (shares_place ? tuning.two_slices_s : tuning.yield_s());
}

std::vector<Move> even_out(const JuggleView& view, const std::vector<bool>& is_ready) {
  POISE_CHECK(is_ready.size() == view.place_of.size());
  std::vector<ThreadId> ready;
  for (ThreadId t = 0; t < is_ready.size(); ++t)
    if (is_ready[t]) ready.push_back(t);
  std::stable_sort(ready.begin(), ready.end(),
                   [&](ThreadId a, ThreadId b) { return view.progress_s[a] < view.progress_s[b]; });
  std::vector<ReadyPlace> places(view.speed.size());
  for (const PlaceId p : view.place_of) ++places[p].num_threads;
  for (std::size_t i = ready.size(); i-- > 0;) places[view.place_of[ready[i]]].leaving.push_back(i);
  std::vector<std::vector<PlaceId>> places_of(num_domains(view.domain_of));
  for (PlaceId p = 0; p < places.size(); ++p) {
    places[p].num_ready = places[p].leaving.size();
    places_of[domain_of(view, p)].push_back(p);
  }
  std::vector<Move> moves;
  for (const auto& domain : places_of) even_out_domain(domain, ready, places, moves);
  return moves;
}

std::vector<PlaceId> deal_threads(std::uint32_t num_threads, std::span<const DomainId> domain_of) {
  const std::uint32_t num_places = domain_of.size();
  POISE_CHECK(num_places > 0);
  const std::uint32_t share = num_threads / num_places;
  std::vector<std::uint32_t> threads_of_place(num_places, share);
  std::vector<std::uint32_t> threads_of_domain(num_domains(domain_of), 0);
  for (const DomainId d : domain_of) threads_of_domain[d] += share;
  // So far, every place has `share` threads. Each remaining thread goes to the domain that then has
  // the fewest threads. In this domain it goes to the first place that has not received one of the
  // remaining threads yet.
  std::vector<std::vector<PlaceId>> places_of_domain(threads_of_domain.size());
  for (PlaceId p = num_places; p-- > 0;) places_of_domain[domain_of[p]].push_back(p);
  using Filling = std::pair<std::uint32_t, DomainId>;  // number of threads, domain
  std::priority_queue<Filling, std::vector<Filling>, std::greater<>> domains;
  for (DomainId d = 0; d < threads_of_domain.size(); ++d)
    if (!places_of_domain[d].empty()) domains.push({threads_of_domain[d], d});
  for (std::uint32_t rest = num_threads % num_places; rest > 0; --rest) {
    const auto [threads, d] = domains.top();
    domains.pop();
    ++threads_of_place[places_of_domain[d].back()];
    places_of_domain[d].pop_back();
    if (!places_of_domain[d].empty()) domains.push({threads + 1, d});
  }

  std::vector<PlaceId> places;
  for (std::uint32_t round = 0; places.size() < num_threads; ++round)
    for (PlaceId p = 0; p < num_places; ++p)
      if (round < threads_of_place[p]) places.push_back(p);
  return places;
}

double threads_per_place(std::uint32_t num_threads, std::span<const DomainId> domain_of) {
  const double all = 1.0 * num_threads / domain_of.size();
  const DomainId domains = num_domains(domain_of);
  if (domains == 1) return all;
  std::vector<double> threads(domains, 0), places(domains, 0);
  for (const DomainId d : domain_of) ++places[d];
  for (const PlaceId p : deal_threads(num_threads, domain_of)) ++threads[domain_of[p]];
  double most = all;
  for (DomainId d = 0; d < domains; ++d)
    if (places[d] > 0) most = std::max(most, threads[d] / places[d]);
  return most;
}

}  // namespace poise
