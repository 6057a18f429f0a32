// SPDX-License-Identifier: BSD-3-Clause
// Generates profiles with known causes of lost time.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "poise/base/random.h"
#include "poise/diagnosis/diagnose.h"
#include "poise/machine/text.h"

namespace poise::planted {

enum class Cause {
  none,         // little noise only
  persistent,   // the same ranks have more work in all phases
  drifting,     // the ranks with more work change slowly
  random,       // in each phase, ranks drawn anew at random have more work
  mapping,      // ranks that exchange messages run on distant nodes
  network,      // messages cost time, but no mapping makes them cheaper
  binding,      // two ranks share a core while another core is idle
  odd_threads,  // the number of ranks is not a multiple of the number of cores
  /// The number of ranks is a multiple of the number of cores, and waiting ranks spin on cores that
  /// other ranks need.
  crowding,
  others,  // programs outside the run use cores of its ranks, and the kernel moves the ranks
  quota,   // in each phase the kernel stops all ranks of a node, because of a CPU quota
};

/// The remedy that removes this cause with the least effort for the user.
inline Remedy remedy_of(Cause cause) {
  switch (cause) {
    case Cause::persistent:
    case Cause::drifting: return Remedy::objects;
    case Cause::random: return Remedy::lending;
    case Cause::mapping: return Remedy::mapping;
    case Cause::binding: return Remedy::binding;
    case Cause::odd_threads: return Remedy::juggle;
    case Cause::crowding: return Remedy::fewer_ranks;
    case Cause::others: return Remedy::exclusive;
    case Cause::quota: return Remedy::quota;
    default: return Remedy::nothing;
  }
}

/// A cause of lost time, and the time that it costs as a fraction of the run's useful time.
struct Planted {
  Cause cause = Cause::none;
  double share = 0;
};

struct Profile {
  MeasuredRun run;
  Trace trace;
};

class Generator {
 public:
  Generator(std::vector<Planted> causes, std::uint64_t seed)
      : causes_(std::move(causes)), random_(seed) {
    result_.run.are_slices = seed % 2 == 1;
  }

  Profile profile() {
    choose_machine();
    const std::vector<double> lasting = deviations();
    const double drift = random_.uniform(0.5, 1.5) * num_ranks_ / num_phases_;
    for (std::size_t p = 0; p < num_phases_; ++p) {
      std::vector<double> loads(num_ranks_, 1), passing = deviations();
      for (std::size_t r = 0; r < num_ranks_; ++r) {
        loads[r] += share(Cause::persistent) * lasting[r] + share(Cause::random) * passing[r] +
                    share(Cause::drifting) * bump(r - drift * p) + 0.002 * random_.normal();
        loads[r] = std::max(0.01, loads[r]);
      }
      add_phase(p, loads);
    }
    return std::move(result_);
  }

 private:
  double share(Cause cause) const {
    double sum = 0;
    for (const Planted& planted : causes_) sum += planted.cause == cause ? planted.share : 0;
    return sum;
  }

  std::size_t below(std::size_t n) { return random_.below(n); }

  void choose_machine() {
    // If messages cost time, nodes get few cores, and so the run has few ranks and few messages.
    // Otherwise the test would take long, because of its search for a better mapping.
    const bool is_small =
        share(Cause::network) > 0 || (share(Cause::mapping) > 0 && causes_.size() > 1);
    const std::size_t nodes = 2 + below(3), cores = is_small ? 4 : 4 * (1 + below(2));
    result_.trace.machine =
        machine_from_text("node:" + std::to_string(nodes) + " core:" + std::to_string(cores));
    std::size_t per_node = cores;
    if (share(Cause::binding) > 0) per_node = cores - 1;
    if (share(Cause::odd_threads) > 0) per_node = cores + 1 + below(cores - 1);
    if (share(Cause::crowding) > 0) per_node = 2 * cores;
    num_ranks_ = nodes * per_node;
    num_phases_ = 40 + below(80);
    result_.run.others_s.resize(nodes);
    result_.run.quotas.resize(nodes);
    for (std::size_t r = 0; r < num_ranks_; ++r) {
      const std::size_t node = r / per_node;
      result_.run.node_of_rank.push_back(node);
      places_.push_back(node * cores + r % per_node % cores);
    }
    result_.trace.num_places = result_.trace.machine->num_places();
    if (share(Cause::mapping) > 0) scatter();
  }

  /// Moves the ranks to random places until the busiest node sends more than at the best places. At
  /// the best places each node has a piece of the ring, and only the two ends of a piece send to
  /// other nodes. The transfer time is the time in which the busiest node sends. It is scaled such
  /// that the best places save exactly the planted share.
  void scatter() {
    const double least = sent_by_busiest_node();
    do
      for (std::size_t r = num_ranks_; r > 1; --r) {
        const std::size_t other = below(r);
        std::swap(places_[r - 1], places_[other]);
        std::swap(result_.run.node_of_rank[r - 1], result_.run.node_of_rank[other]);
      }
    while (sent_by_busiest_node() <= least);
    ring_transfer_ = share(Cause::mapping) / (1 - least / sent_by_busiest_node());
  }

  std::vector<Message> ring() const {
    std::vector<Message> list;
    const TaskId n = num_ranks_;
    for (TaskId r = 0; r < n; ++r)
      for (const TaskId to : {(r + 1) % n, (r + n - 1) % n}) list.push_back({r, to, 10, 100000});
    return list;
  }

  /// The bytes that the node with the most outgoing ring messages sends to other nodes.
  double sent_by_busiest_node() const {
    const std::vector<std::uint32_t>& node_of = result_.run.node_of_rank;
    std::vector<double> bytes(result_.trace.machine->num_nodes());
    for (const Message& message : ring())
      if (node_of[message.from] != node_of[message.to])
        bytes[node_of[message.from]] += message.bytes;
    return *std::max_element(bytes.begin(), bytes.end());
  }

  /// Random deviations from an average, one per rank, with mean 0 and maximum 1; a few ranks have
  /// large ones.
  std::vector<double> deviations() {
    std::vector<double> x(num_ranks_);
    for (double& v : x) v = std::abs(random_.normal());
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / num_ranks_;
    const double largest = *std::max_element(x.begin(), x.end());
    for (double& v : x) v = (v - mean) / (largest - mean);
    return x;
  }

  /// A load that varies with the rank like one period of a cosine wave.
  double bump(double at) const { return std::cos(2 * 3.14159265358979 * at / num_ranks_); }

  std::vector<Message> messages() const {
    std::vector<Message> list;
    if (share(Cause::mapping) > 0) list = ring();
    if (share(Cause::network) > 0)
      for (TaskId r = 0; r < num_ranks_; ++r)
        for (TaskId to = 0; to < num_ranks_; ++to)
          if (to != r) list.push_back({r, to, 1, 1000});
    return list;
  }

  /// The useful time of each rank in phase p: its load, plus the time that it waits for its core.
  /// With Cause::others, other programs use the core of one random rank in each phase.
  std::vector<double> useful_times(std::size_t p, const std::vector<double>& loads) {
    std::vector<double> useful = loads;
    std::vector<PlaceId> places = places_;
    const double binding = share(Cause::binding);
    /// In some phases, a random rank shares its core with a neighbouring rank.
    if (binding > 0 && random_.uniform() < binding) {
      const std::size_t victim = below(num_ranks_);
      const std::size_t other =
          victim > 0 && result_.run.node_of_rank[victim - 1] == result_.run.node_of_rank[victim]
              ? victim - 1
              : (victim + 1) % num_ranks_;
      places[other] = places[victim];
    }
    std::vector<double> at(result_.trace.num_places);
    for (std::size_t r = 0; r < num_ranks_; ++r) at[places[r]] += loads[r];
    for (std::size_t r = 0; r < num_ranks_; ++r)
      useful[r] = std::max(loads[r], at[places[r]]) * (1 + share(Cause::crowding));
    if (const double others = share(Cause::others); others > 0) {
      const std::size_t victim = below(num_ranks_), other = (victim + 1) % num_ranks_;
      useful[victim] += others;
      result_.run.others_s[result_.run.node_of_rank[victim]] += others;
      if (result_.run.node_of_rank[victim] == result_.run.node_of_rank[other])
        std::swap(places[victim], places[other]);
    }
    if (const double stopped = share(Cause::quota); stopped > 0) stop_a_node(stopped, useful);
    result_.trace.phases[p].placement = Placement(places);
    return useful;
  }

  /// Stops all ranks of a random node, each of them for about `stopped_s`.
  void stop_a_node(double stopped_s, std::vector<double>& useful) {
    const std::vector<std::uint32_t>& node_of = result_.run.node_of_rank;
    const std::uint32_t node = node_of[below(num_ranks_)];
    NodeQuota& quota = result_.run.quotas[node];
    quota.cpus = 1;
    for (std::size_t r = 0; r < num_ranks_; ++r) {
      if (node_of[r] != node) continue;
      const double seconds = stopped_s * random_.uniform(0.9, 1);
      useful[r] += seconds;
      quota.stopped_s += seconds;
    }
  }

  void add_phase(std::size_t p, const std::vector<double>& loads) {
    Phase& phase = result_.trace.phases.emplace_back();
    phase.id = p;
    for (const double load : loads) phase.workload.tasks.push_back({.load_s = load});
    phase.workload.messages = messages();
    const std::vector<double> useful = useful_times(p, loads);
    const double transfer = ring_transfer_ + share(Cause::network) + 0.01;
    const auto last =
        static_cast<std::uint32_t>(std::max_element(useful.begin(), useful.end()) - useful.begin());
    MeasuredPhase& measured = result_.run.phases.emplace_back();
    for (std::size_t r = 0; r < num_ranks_; ++r) {
      const double waited = useful[last] - useful[r];
      RankTimes times{.wall_s = useful[last] + transfer,
                      .useful_s = useful[r],
                      .load_s = loads[r],
                      .queued_s = useful[r] - loads[r],
                      .waited = {waited, 0.03 * waited}};
      if (waited > 0) times.waited_for = {{last, waited}};
      measured.ranks.push_back(std::move(times));
    }
    phase.wall_s = measured.ranks[0].wall_s;
  }

  std::vector<Planted> causes_;
  Random random_;
  std::size_t num_ranks_ = 0, num_phases_ = 0;
  std::vector<PlaceId> places_;
  /// Transfer time of a phase, in seconds, with the ranks at random places. It is so long that the
  /// best places would save exactly the share that is planted for Cause::mapping.
  double ring_transfer_ = 0;
  Profile result_;
};

}  // namespace poise::planted
