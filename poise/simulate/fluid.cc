// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/fluid.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "poise/base/check.h"

namespace poise {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// Two flows count as ending at the same time if the relative difference of their end times is
/// below this value, because the end times then differ only by rounding.
constexpr double kSame = 1e-12;

/// Values of rate[route] if the route has no flow in flight: kIdle if a flow will still use the
/// route, kOver if none will.
constexpr double kOver = -1, kIdle = 0;

/// Computes max-min fair rates of routes, each with a number of flows.
class FairRates {
 public:
  explicit FairRates(const Routes& routes)
      : routes_(routes),
        demand_(routes.num_resources()),
        load_(routes.num_resources()),
        first_(routes.num_resources() + 1, 0) {
    for (std::uint32_t route = 0; route < routes.count(); ++route)
      for (const RouteStop& stop : routes.stops(route)) ++first_[stop.resource + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    end_.assign(first_.begin(), first_.end() - 1);
    users_.resize(routes.num_stops());
    for (std::uint32_t route = 0; route < routes.count(); ++route)
      for (const RouteStop& stop : routes.stops(route)) users_[end_[stop.resource]++] = route;
  }

  /// Adds a flow to a route. `num_flows` is the number of flows already on the route.
  void add_flow(std::uint32_t route, std::uint32_t num_flows) {
    for (const RouteStop& stop : routes_.stops(route)) {
      Load& demand = demand_[stop.resource];
      if (num_flows == 0 && demand.open++ == 0 && !demand.is_listed) {
        demand.is_listed = true;
        in_use_.push_back(stop.resource);
      }
      demand.per_rate += stop.s_per_byte;
      demand.at_most = std::max(demand.at_most, demand.per_rate);
    }
  }

  /// Removes a flow from a route. `num_flows` is the number of flows that remain on the route.
  void remove_flow(std::uint32_t route, std::uint32_t num_flows) {
    for (const RouteStop& stop : routes_.stops(route)) {
      Load& demand = demand_[stop.resource];
      demand.per_rate -= stop.s_per_byte;
      if (num_flows == 0 && --demand.open == 0) demand.per_rate = demand.at_most = 0;
    }
  }

  /// Returns the seconds that a byte of one more flow on the route would take on its resources, one
  /// after the other, if each resource were shared evenly.
  double passing_s_per_byte(std::uint32_t route) const {
    double seconds = 0;
    for (const RouteStop& stop : routes_.stops(route))
      seconds += demand_[stop.resource].per_rate + stop.s_per_byte;
    return seconds;
  }

  /// Sets rate[route] for the active routes, which are those with flows. The resource with the
  /// smallest rate per flow is filled first, because it is the bottleneck of the flows through it.
  /// The rates of other routes must be kOver or kIdle.
  void set(std::span<const std::uint32_t> active, std::span<const std::uint32_t> num_flows,
           std::span<double> rate) {
    for (const std::uint32_t route : active) rate[route] = kNever;
    open();
    double level = 0;
    while (!order_.empty()) {
      std::pop_heap(order_.begin(), order_.end(), std::greater<>());
      const auto [found, r] = order_.back();
      const double now = load_[r].level();
      if (load_[r].open > 0 && now > found) {
        // The rate per flow of this resource has risen since the resource was put into order_,
        // because slower flows leave bandwidth to the others. So the resource goes back into
        // order_ with its new rate.
        order_.back().first = now;
        std::push_heap(order_.begin(), order_.end(), std::greater<>());
        continue;
      }
      order_.pop_back();
      if (load_[r].open == 0) continue;
      level = std::max(level, exact_level(r, num_flows, rate));
      fill(r, level, num_flows, rate);
    }
  }

 private:
  /// The share of a resource that is not yet assigned to flows, and the demand of the flows that
  /// have no rate yet.
  struct Load {
    double left = 1;      // share of the resource's time that is not yet assigned to a flow
    double per_rate = 0;  // share needed if each flow without a rate were given 1 byte/s
    // The largest value of per_rate so far. It bounds the rounding errors of per_rate
    // (exact_level()).
    double at_most = 0;
    std::uint32_t open = 0;  // number of routes that have flows but no rate yet
    bool is_listed = false;  // in in_use_
    double level() const { return per_rate > 0 ? std::max(0.0, left) / per_rate : kNever; }
  };

  /// Collects the demand on all resources in use.
  void open() {
    order_.clear();
    std::size_t kept = 0;
    for (const std::uint32_t r : in_use_) {
      if (demand_[r].open == 0) {
        demand_[r].is_listed = false;
        continue;
      }
      in_use_[kept++] = r;
      load_[r] = demand_[r];
      order_.push_back({load_[r].level(), r});
    }
    in_use_.resize(kept);
    std::make_heap(order_.begin(), order_.end(), std::greater<>());
  }

  /// Returns the rate per flow on resource r. Load::per_rate is a sum over routes, from which the
  /// term of each route is subtracted once this route has a rate. If the rest is small, its
  /// rounding errors are large, so the terms of the routes without a rate are added up anew.
  double exact_level(std::uint32_t r, std::span<const std::uint32_t> num_flows,
                     std::span<const double> rate) const {
    const Load& load = load_[r];
    if (load.per_rate > 1e-3 * load.at_most) return load.level();
    double per_rate = 0;
    for (std::size_t i = first_[r]; i < end_[r]; ++i) {
      const std::uint32_t route = users_[i];
      if (rate[route] != kNever) continue;
      const auto stops = routes_.stops(route);
      const auto stop = std::find_if(stops.begin(), stops.end(),
                                     [r](const RouteStop& s) { return s.resource == r; });
      per_rate += num_flows[route] * stop->s_per_byte;
    }
    return std::max(0.0, load.left) / per_rate;
  }

  /// Goes through the routes that use resource r: assigns the rate `level` to each route that has
  /// no rate yet, and removes each route that has ended from the list of users of r.
  void fill(std::uint32_t r, double level, std::span<const std::uint32_t> num_flows,
            std::span<double> rate) {
    std::size_t kept = first_[r];
    for (std::size_t i = first_[r]; i < end_[r]; ++i) {
      const std::uint32_t route = users_[i];
      if (rate[route] == kOver) continue;
      users_[kept++] = route;
      if (rate[route] != kNever) continue;
      rate[route] = level;
      for (const RouteStop& stop : routes_.stops(route)) {
        Load& load = load_[stop.resource];
        const double share = num_flows[route] * stop.s_per_byte;
        load.left -= level * share;
        load.per_rate -= share;
        --load.open;
      }
    }
    end_[r] = kept;
  }

  const Routes& routes_;
  std::vector<Load> demand_;              // per resource: demand of all flows in flight
  std::vector<std::uint32_t> in_use_;     // resources with flows
  std::vector<Load> load_;                // per resource
  std::vector<std::size_t> first_, end_;  // per resource: its range in users_
  std::vector<std::uint32_t> users_;      // routes
  std::vector<std::pair<double, std::uint32_t>> order_;  // heap: level, resource
};

/// All flows of an exchange. All flows of a route have the same rate. So all flows of a route share
/// one counter: the bytes that each of them has transferred since the route became active. A flow
/// ends when this counter reaches a number that is known when the flow starts.
class Fluid {
 public:
  Fluid(const Routes& routes, std::span<const Flow> flows, double window_s,
        std::span<const Detour> detours)
      : flows_(flows),
        detours_(detours),
        window_s_(window_s),
        rates_(routes),
        in_flight_(routes.count()),
        num_flows_(routes.count(), 0),
        to_come_(routes.count(), 0),
        served_(routes.count(), 0),
        rate_(routes.count(), kIdle),
        end_s_(flows.size(), 0) {
    for (std::uint32_t f = 0; f < flows.size(); ++f) {
      end_s_[f] = flows[f].start_s;
      if (flows[f].bytes <= 0 || routes.stops(flows[f].route).empty()) continue;
      order_.push_back(f);
      ++to_come_[flows[f].route];
      if (has_detour(f)) ++to_come_[detours[f].route];
    }
    sort_by_start(flows, order_);
  }

  std::vector<double> run() {
    while (next_ < order_.size() || !active_.empty()) {
      if (active_.empty()) now_s_ = std::max(now_s_, flows_[order_[next_]].start_s);
      start_flows();
      if (active_.empty()) continue;
      rates_.set(active_, num_flows_, rate_);
      advance();
    }
    return std::move(end_s_);
  }

 private:
  struct Waiting {
    double served;  // this flow ends when served_ of its route has reached this value
    std::uint32_t flow;
    bool operator>(const Waiting& other) const {
      return served != other.served ? served > other.served : flow > other.flow;
    }
  };

  bool has_detour(std::uint32_t flow) const {
    return !detours_.empty() && detours_[flow].route != Detour::kNone;
  }

  /// Chooses the route of a flow that starts now.
  std::uint32_t choose_route(std::uint32_t flow) {
    const std::uint32_t direct = flows_[flow].route;
    --to_come_[direct];
    if (!has_detour(flow)) return direct;
    const std::uint32_t detour = detours_[flow].route;
    --to_come_[detour];
    const bool is_sooner = rates_.passing_s_per_byte(detour) < rates_.passing_s_per_byte(direct);
    const std::uint32_t other = is_sooner ? direct : detour;
    if (num_flows_[other] == 0 && to_come_[other] == 0) rate_[other] = kOver;
    return is_sooner ? detour : direct;
  }

  void start_flows() {
    const double until_s = now_s_ + window_s_ / 2;
    for (; next_ < order_.size() && flows_[order_[next_]].start_s <= until_s; ++next_) {
      const std::uint32_t f = order_[next_];
      const std::uint32_t route = choose_route(f);
      rates_.add_flow(route, num_flows_[route]);
      if (num_flows_[route]++ == 0) {
        active_.push_back(route);
        served_[route] = 0;
      }
      in_flight_[route].push_back({served_[route] + flows_[f].bytes, f});
      std::push_heap(in_flight_[route].begin(), in_flight_[route].end(), std::greater<>());
    }
  }

  /// Advances to the next start or end of a flow, but by at least window_s_. Flows that would end
  /// at most window_s_ / 2 after that time end in the same step.
  void advance() {
    double step_s = kNever;
    for (const std::uint32_t route : active_) step_s = std::min(step_s, next_end_s(route));
    if (next_ < order_.size()) step_s = std::min(step_s, flows_[order_[next_]].start_s - now_s_);
    step_s = std::max(step_s, window_s_);
    const double until_s = step_s * (1 + kSame) + window_s_ / 2;
    std::size_t kept = 0;
    for (const std::uint32_t route : active_) {
      end_flows(route, until_s);
      served_[route] += rate_[route] * step_s;
      if (num_flows_[route] > 0)
        active_[kept++] = route;
      else
        rate_[route] = to_come_[route] > 0 ? kIdle : kOver;
    }
    active_.resize(kept);
    now_s_ += step_s;
  }

  double next_end_s(std::uint32_t route) const {
    return (in_flight_[route].front().served - served_[route]) / rate_[route];
  }

  /// Ends the flows of a route that have at most until_s seconds left.
  void end_flows(std::uint32_t route, double until_s) {
    auto& waiting = in_flight_[route];
    while (!waiting.empty() && next_end_s(route) <= until_s) {
      const std::uint32_t f = waiting.front().flow;
      end_s_[f] = std::max(flows_[f].start_s, now_s_ + next_end_s(route));
      if (route != flows_[f].route) end_s_[f] += detours_[f].extra_s;
      std::pop_heap(waiting.begin(), waiting.end(), std::greater<>());
      waiting.pop_back();
      rates_.remove_flow(route, --num_flows_[route]);
    }
  }

  std::span<const Flow> flows_;
  std::span<const Detour> detours_;
  double window_s_;
  std::vector<std::uint32_t> order_;  // of starts
  std::size_t next_ = 0;              // in order_
  FairRates rates_;
  std::vector<std::vector<Waiting>> in_flight_;  // per route: its flows in flight, as a heap
  std::vector<std::uint32_t> num_flows_;         // per route: number of flows in flight
  std::vector<std::uint32_t> to_come_;           // per route: number of flows that have not started
  std::vector<double> served_, rate_;            // per route
  std::vector<std::uint32_t> active_;            // routes with flows in flight
  std::vector<double> end_s_;
  double now_s_ = 0;
};

}  // namespace

std::vector<double> fluid_ends_s(const Routes& routes, std::span<const Flow> flows, double window_s,
                                 std::span<const Detour> detours) {
  POISE_CHECK(window_s >= 0);
  POISE_CHECK(detours.empty() || detours.size() == flows.size());
  return Fluid(routes, flows, window_s, detours).run();
}

}  // namespace poise
