// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/traffic_excess.h"

#include <utility>

namespace poise {

using graphs::Graph;
using graphs::Vertex;

TrafficExcess::TrafficExcess(const RankProblem& problem, const TrafficLimits& limits)
    : problem_(problem), limits_(limits) {
  if (!limits.are_set()) return;
  const Graph& graph = problem.graph;
  nodes_.resize(problem.distances.num_nodes());
  for (Vertex v = 0; v < graph.num_vertices(); ++v) {
    double both = 0;
    for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e) both += graph.affinity[e];
    sent_.push_back(limits.sent.empty() ? both / 2 : v < limits.sent.size() ? limits.sent[v] : 0);
    received_.push_back(both - sent_[v]);
  }
}

void TrafficExcess::tabulate(std::span<const Slot> slot_of) {
  SlotClasses nodes{{}, problem_.distances.num_nodes(), {}};
  for (Slot s = 0; s < slot_of.size(); ++s) nodes.class_of.push_back(node_of(s));
  nodes.distances.assign(std::size_t{nodes.size} * nodes.size, 0);
  for (NodeId node = 0; node < nodes.size; ++node)
    nodes.distances[std::size_t{node} * nodes.size + node] = 1;
  bytes_.emplace(problem_.graph, std::move(nodes), slot_of);
}

void TrafficExcess::start_from(std::span<const Slot> slot_of) {
  if (!is_on()) return;
  if (bytes_) bytes_->start_from(slot_of);
  std::fill(nodes_.begin(), nodes_.end(), NodeTraffic{});
  internode_ = 0;
  for (Vertex v = 0; v < slot_of.size(); ++v) {
    NodeTraffic& node = nodes_[node_of(slot_of[v])];
    node.sent += sent_[v];
    node.received += received_[v];
    internode_ += sent_[v];
    for (std::size_t e = problem_.graph.first[v]; e < problem_.graph.first[v + 1]; ++e) {
      if (node_of(slot_of[problem_.graph.to[e]]) != node_of(slot_of[v])) continue;
      node.inside += problem_.graph.affinity[e] / 2;
      internode_ -= problem_.graph.affinity[e] / 2;
    }
  }
}

void TrafficExcess::exchange(Vertex v, NodeId a, Vertex u, NodeId b, const InsideChange& inside) {
  if (a == b) return;
  nodes_[a] = after(a, v, u, inside.here);
  nodes_[b] = after(b, u, v, inside.there);
  internode_ -= inside.here + inside.there;
  if (bytes_) bytes_->exchange(v, u);
}

}  // namespace poise
