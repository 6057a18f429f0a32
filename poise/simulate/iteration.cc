// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/iteration.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "poise/base/check.h"
#include "poise/base/enum_index.h"
#include "poise/base/error.h"
#include "poise/base/text.h"
#include "poise/simulate/fluid.h"
#include "poise/simulate/queues.h"
#include "poise/simulate/tuning.h"

namespace poise {

namespace {

constexpr std::array<std::string_view, 2> kSharings{"fluid", "queue"};

/// Lets all places do the fraction 1 - overlap of their work, then send their messages, then do the
/// rest of their work. Sets sends_s, sent_s and worked_s in `places` and the start of each flow.
void send_all(const Traffic& traffic, std::span<const double> work_s, double overlap,
              const EngineOptions& options, std::vector<PlaceRun>& places,
              std::vector<Flow>& flows) {
  for (PlaceId p = 0; p < places.size(); ++p) {
    PlaceRun& place = places[p];
    place.sends_s = place.sent_s = (1 - overlap) * work_s[p];
    for (std::size_t i = traffic.first_pair(p); i < traffic.first_pair(p + 1); ++i) {
      place.sent_s += traffic.pairs()[i].sender_s;
      flows[i].start_s = place.sent_s + traffic.pairs()[i].latency_s;
    }
    place.worked_s = place.sent_s + overlap * work_s[p];
  }
  const double limit = options.eager_bytes;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const Traffic::Pair& pair = traffic.pairs()[i];
    if (pair.message_bytes <= limit) continue;
    const double one_way_s = options.handshake_latencies / 2 * pair.latency_s;
    const double asked_s = flows[i].start_s - pair.latency_s + one_way_s;
    flows[i].start_s = std::max(asked_s, places[pair.to].sends_s) + one_way_s + pair.latency_s;
  }
}

/// Simulates how every place receives its messages, in the order of their arrival.
void receive_all(const Traffic& traffic, std::span<const double> arrival_s,
                 std::vector<PlaceRun>& places) {
  std::vector<std::size_t> first(places.size() + 1, 0);
  for (const Traffic::Pair& pair : traffic.pairs()) ++first[pair.to + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<std::uint32_t> incoming(arrival_s.size());
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  for (std::uint32_t i = 0; i < incoming.size(); ++i) incoming[next[traffic.pairs()[i].to]++] = i;
  for (PlaceId p = 0; p < places.size(); ++p) {
    const auto begin = incoming.begin() + first[p], end = incoming.begin() + first[p + 1];
    std::sort(begin, end, [&](std::uint32_t a, std::uint32_t b) {
      return arrival_s[a] != arrival_s[b] ? arrival_s[a] < arrival_s[b] : a < b;
    });
    PlaceRun& place = places[p];
    place.ends_s = place.worked_s;
    for (auto i = begin; i != end; ++i) {
      const double receiver_s = traffic.pairs()[*i].receiver_s;
      place.ends_s = std::max(place.ends_s, arrival_s[*i]) + receiver_s;
      place.receiving_s += receiver_s;
    }
  }
}

double window_s(const Traffic& traffic, const EngineOptions& options) {
  if (options.precision) return *options.precision * traffic.busiest_s();
  const double stops = traffic.routes().num_stops();
  const double computations = 2.0 * traffic.flows().size();
  if (computations * stops <= simulate_tuning::kMaxExactVisits) return 0;
  return traffic.busiest_s() / std::clamp(simulate_tuning::kMaxVisits / stops,
                                          simulate_tuning::kMinComputations,
                                          simulate_tuning::kMaxComputations);
}

}  // namespace

std::string_view name_of(Sharing sharing) { return kSharings[index_of(sharing)]; }

Sharing sharing_named(std::string_view name) {
  for (const auto sharing : {Sharing::fluid, Sharing::queue})
    if (name == name_of(sharing)) return sharing;
  throw Error(unknown_name("sharing", name, kSharings));
}

double Iteration::idle_share() const {
  double busy_s = 0;
  for (const PlaceRun& place : places) busy_s += place.busy_s();
  const double all_s = end_s * places.size();
  return all_s > 0 ? std::max(0.0, 1 - busy_s / all_s) : 0;
}

Iteration simulate_iteration(const Traffic& traffic, std::span<const double> work_s, double overlap,
                             const EngineOptions& options) {
  POISE_CHECK(work_s.size() == traffic.num_places());
  Iteration iteration;
  iteration.places.resize(work_s.size());
  std::vector<Flow> flows(traffic.flows().begin(), traffic.flows().end());
  send_all(traffic, work_s, overlap, options, iteration.places, flows);
  if (options.sharing == Sharing::fluid) iteration.window_s = window_s(traffic, options);
  const std::vector<double> arrival_s =
      options.sharing == Sharing::fluid
          ? fluid_ends_s(traffic.routes(), flows, iteration.window_s, traffic.detours())
          : queue_ends_s(traffic.routes(), flows, traffic.detours());
  receive_all(traffic, arrival_s, iteration.places);
  for (const PlaceRun& place : iteration.places)
    iteration.end_s = std::max(iteration.end_s, place.ends_s);
  return iteration;
}

double exchange_s(const Traffic& traffic, const EngineOptions& options) {
  const std::vector<double> work_s(traffic.num_places(), 0);
  return simulate_iteration(traffic, work_s, 0, options).end_s;
}

}  // namespace poise
