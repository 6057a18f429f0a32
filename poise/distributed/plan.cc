// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <utility>

#include "poise/base/random.h"
#include "poise/distributed/leader_problem.h"
#include "poise/distributed/merging.h"
#include "poise/distributed/own_graph.h"
#include "poise/distributed/pieces.h"
#include "poise/distributed/rank_groups.h"
#include "poise/distributed/total_time.h"
#include "poise/distributed/travellers.h"
#include "poise/distributed/tuning.h"
#include "poise/machine/resources.h"

namespace poise {

namespace {

/// Returns the sum of the weights of this rank's tasks; distributed_tuning::kWeightOfTask defines
/// the weight of a task.
double weight_of(const OwnTasks& own, const AveragePlace& average) {
  double weight =
      distributed_tuning::kWeightOfTask * own.num_tasks() / std::max(1.0, average.tasks);
  for (const double load_s : own.load_s) weight += average.load_s > 0 ? load_s / average.load_s : 0;
  return weight;
}

/// One V-cycle of the decision: merges vertices level by level up to the top leader, then assigns
/// them level by level down to the ranks. All member functions are collective: a rank that leads no
/// group of a level calls them as well, but has no vertices on that level.
class Cycle {
 public:
  Cycle(Communicator& ranks, const DecisionContext& context, const AveragePlace& average,
        const DistributedLimits& limits)
      : ranks_(ranks),
        context_(context),
        groups_(context.groups),
        average_(average),
        limits_(limits),
        pieces_(groups_.num_levels()) {}

  /// Returns for each task of this rank the rank to which it is assigned.
  std::vector<std::uint32_t> run(const OwnTasks& own, OwnGraph& graph) {
    if (groups_.top() == 0) return std::vector<std::uint32_t>(own.num_tasks(), 0);  // one rank
    rise_from_tasks(own, graph);
    for (std::size_t level = 1; level < groups_.top(); ++level) rise(level);
    return descend();
  }

 private:
  bool leads(std::size_t level) const {
    return groups_.leader_of(level, ranks_.rank()) == ranks_.rank();
  }
  std::uint32_t parent(std::size_t level) const { return parent(level, ranks_.rank()); }
  std::uint32_t parent(std::size_t level, std::uint32_t rank) const {
    return groups_.leader_of(std::min(level + 1, groups_.top()), rank);
  }

  /// Limits for the graph that a leader sends to its parent. The maximum numbers of vertices and
  /// edges grow with the weight of the leader's vertices, up to the numbers in DistributedLimits.
  /// They are at least the numbers in DistributedLimits divided by the number of the parent's
  /// children.
  MergeLimits limits_of(std::size_t level, double weight) const {
    const auto siblings =
        static_cast<double>(groups_.children(level + 1, ranks_.rank()).size() - 1);
    const double average = 1.0 * ranks_.num_ranks() / groups_.num_groups(level);
    const double share = limits_.vertices / siblings;
    const double vertices = limits_.vertices;
    return {
        .max_weight = std::max(average / share, weight / vertices),
        .max_vertices =
            static_cast<std::size_t>(std::clamp(2 * share * weight / average, share, vertices)),
        .max_edges = static_cast<std::size_t>(std::max(
            limits_.edges / siblings, limits_.edges * std::min(1.0, weight / average / siblings)))};
  }

  void rise_from_tasks(const OwnTasks& own, OwnGraph& graph) {
    const MergeLimits limits = limits_of(0, weight_of(own, average_));
    const auto clusters = graph.merge(context_.machine.speed_of(ranks_.rank()), average_, limits);
    const std::uint32_t first = number_in_parent(0, clusters.size());
    pieces_[0].merged = graph.cluster_of();
    for (std::uint32_t& merged : pieces_[0].merged) merged += first;
    const auto merged = merged_names(0, graph.ghosts());
    auto edges = graph.edges({parent(0), first}, merged);
    hand_up(0, clusters, std::move(edges), limits.max_edges);
  }

  void rise(std::size_t level) {
    Piece& piece = pieces_[level];
    double weight = 0;
    for (const PieceVertex& vertex : piece.vertices) weight += vertex.weight;
    const MergeLimits limits = limits_of(level, weight);
    const Merging merging = merge_piece(piece, ranks_.rank(), limits);
    const auto clusters = merged_vertices(piece.vertices, merging);
    const std::uint32_t first = number_in_parent(level, clusters.size());
    piece.merged = merging.group_of;
    for (std::uint32_t& merged : piece.merged) merged += first;
    const std::vector<VertexName> names = names_of(piece.out);
    const std::vector<VertexName> merged = merged_names(level, names);
    std::vector<PieceEdge> edges;
    for (const PieceEdge& edge : piece.out) {
      const VertexName other = merged[index_of(names, edge.other)];
      const std::uint32_t own = piece.merged[edge.own];
      if (other != VertexName{parent(level), own})
        edges.push_back({own, other, edge.count, edge.bytes});
    }
    merge_parallel(edges);
    hand_up(level, clusters, std::move(edges), limits.max_edges);
  }

  /// Numbers `count` vertices of this leader in the graph that its parent holds. The parent's graph
  /// contains the vertices of one child after another. Returns the number of this leader's first
  /// vertex.
  std::uint32_t number_in_parent(std::size_t level, std::size_t count) {
    Mail<std::uint32_t> counts;
    if (leads(level)) counts[parent(level)].push_back(count);
    Mail<std::uint32_t> received = ranks_.exchange(counts);
    std::uint32_t next = 0;
    for (auto& [rank, numbers] : received) next += std::exchange(numbers[0], next);
    const Mail<std::uint32_t> answer = ranks_.exchange(received);
    return leads(level) ? items_from(answer, parent(level)).at(0) : 0;
  }

  /// Returns, for each vertex in `names`, the name of the merged vertex that contains it in the
  /// parent's piece.
  std::vector<VertexName> merged_names(std::size_t level, const std::vector<VertexName>& names) {
    const std::vector<std::uint32_t> index = ask_owners(ranks_, names, pieces_[level].merged);
    std::vector<VertexName> merged;
    merged.reserve(names.size());
    for (std::size_t i = 0; i < names.size(); ++i)
      merged.push_back({parent(level, names[i].rank), index[i]});
    return merged;
  }

  void hand_up(std::size_t level, const std::vector<PieceVertex>& vertices,
               std::vector<PieceEdge> edges, std::size_t max_edges) {
    const UnitCosts unit = unit_costs(context_.machine, context_.machine.costs());
    keep_heaviest(edges, parent(level), max_edges, unit.message_s, unit.byte_s);
    Mail<PieceVertex> vertex_mail;
    Mail<PieceEdge> edge_mail;
    if (leads(level)) {
      vertex_mail[parent(level)] = vertices;
      edge_mail[parent(level)] = std::move(edges);
    }
    Piece& up = pieces_[level + 1];
    std::uint32_t child = 0;
    const auto children = groups_.children(level + 1, ranks_.rank());
    for (auto& [rank, part] : ranks_.exchange(vertex_mail)) {
      while (children[child] != rank) ++child;
      for (PieceVertex& vertex : part) {
        vertex.child = child;
        up.vertices.push_back(vertex);
      }
    }
    for (auto& [rank, part] : ranks_.exchange(std::exchange(edge_mail, {}))) {
      up.out.insert(up.out.end(), part.begin(), part.end());
      part = {};
    }
    if (level + 1 < groups_.top()) tell_receivers(level + 1);
  }

  /// So far, an edge between vertices of two leaders is stored only at the sending vertex. Sends
  /// each such edge also to the leader of the receiving vertex.
  void tell_receivers(std::size_t level) {
    Mail<PieceEdge> mail;
    for (const PieceEdge& edge : pieces_[level].out)
      if (edge.other.rank != ranks_.rank())
        mail[edge.other.rank].push_back(
            {edge.other.index, {ranks_.rank(), edge.own}, edge.count, edge.bytes});
    for (const auto& [rank, part] : ranks_.exchange(mail))
      pieces_[level].in.insert(pieces_[level].in.end(), part.begin(), part.end());
  }

  std::vector<std::uint32_t> descend() {
    std::vector<Guest> guests;
    std::vector<GuestEdge> edges;
    Piece& all = pieces_[groups_.top()];
    for (std::uint32_t v = 0; v < all.vertices.size(); ++v)
      guests.push_back({{ranks_.rank(), v}, all.vertices[v]});
    for (const PieceEdge& edge : all.out)
      edges.push_back(
          {{ranks_.rank(), edge.own}, edge.other, ranks_.rank(), 1, edge.count, edge.bytes});
    all.out = {};
    for (std::size_t level = groups_.top();; --level) {
      const std::vector<std::uint32_t> targets = told(level, guests, std::exchange(edges, {}));
      const std::vector<std::uint32_t> below = of_children(level, targets);
      pieces_[level] = Piece();
      if (level == 1) return below;
      ship(level - 1, below, guests, edges);
    }
  }

  /// Assigns each guest (a vertex that this leader decides about) to the leader of a child group,
  /// and sends this decision to the leader whose piece contains the vertex. Returns, for each
  /// vertex of this leader's own piece, the leader to which the vertex is assigned.
  std::vector<std::uint32_t> told(std::size_t level, const std::vector<Guest>& guests,
                                  std::vector<GuestEdge> edges) {
    struct Answer {
      std::uint32_t index, leader;
    };
    const auto decided = decide(context_, level, ranks_.rank(), guests, std::move(edges));
    Mail<Answer> answers;
    for (std::size_t i = 0; i < guests.size(); ++i)
      answers[guests[i].home.rank].push_back({guests[i].home.index, decided[i]});
    std::vector<std::uint32_t> targets(pieces_[level].vertices.size());
    for (const auto& [rank, part] : ranks_.exchange(answers))
      for (const Answer& answer : part) targets.at(answer.index) = answer.leader;
    return targets;
  }

  /// targets[v] is the leader to which vertex v of `level` is assigned. Returns the leader for each
  /// vertex of the level below: a vertex goes to the same leader as the merged vertex that contains
  /// it.
  std::vector<std::uint32_t> of_children(std::size_t level,
                                         const std::vector<std::uint32_t>& targets) {
    const auto children = groups_.children(level, ranks_.rank());
    Mail<std::uint32_t> mail;
    const Piece& piece = pieces_[level];
    for (std::size_t v = 0; v < piece.vertices.size(); ++v)
      mail[children[piece.vertices[v].child]].push_back(targets[v]);
    std::vector<std::uint32_t> below = pieces_[level - 1].merged;
    const Mail<std::uint32_t> received = ranks_.exchange(mail);
    if (below.empty()) return below;
    const std::vector<std::uint32_t>& own = items_from(received, parent(level - 1));
    const std::uint32_t first = *std::min_element(below.begin(), below.end());
    for (std::uint32_t& merged : below) merged = own.at(merged - first);
    return below;
  }

  /// Sends the vertices of a level to the leaders of the groups to which they were assigned. The
  /// caller must pass an empty `edges`.
  void ship(std::size_t level, const std::vector<std::uint32_t>& targets,
            std::vector<Guest>& guests, std::vector<GuestEdge>& edges) {
    const Piece& piece = pieces_[level];
    Mail<Guest> guest_mail;
    for (std::uint32_t v = 0; v < piece.vertices.size(); ++v)
      guest_mail[targets[v]].push_back({{ranks_.rank(), v}, piece.vertices[v]});
    Mail<GuestEdge> edge_mail;
    const auto out = names_of(piece.out), in = names_of(piece.in);
    const auto out_targets = ask_owners(ranks_, out, targets);
    const auto in_targets = ask_owners(ranks_, in, targets);
    for (const PieceEdge& edge : piece.out) {
      const std::uint32_t to = out_targets[index_of(out, edge.other)];
      const VertexName own{ranks_.rank(), edge.own};
      edge_mail[targets[edge.own]].push_back({own, edge.other, to, 1, edge.count, edge.bytes});
      if (edge.other.rank == ranks_.rank() && to != targets[edge.own])
        edge_mail[to].push_back({edge.other, own, targets[edge.own], 0, edge.count, edge.bytes});
    }
    for (const PieceEdge& edge : piece.in)
      if (const std::uint32_t from = in_targets[index_of(in, edge.other)];
          from != targets[edge.own])
        edge_mail[targets[edge.own]].push_back(
            {{ranks_.rank(), edge.own}, edge.other, from, 0, edge.count, edge.bytes});
    guests.clear();
    for (const auto& [rank, part] : ranks_.exchange(guest_mail))
      guests.insert(guests.end(), part.begin(), part.end());
    for (const auto& [rank, part] : ranks_.exchange(edge_mail))
      edges.insert(edges.end(), part.begin(), part.end());
  }

  Communicator& ranks_;
  const DecisionContext& context_;
  const RankGroups& groups_;
  const AveragePlace& average_;
  const DistributedLimits& limits_;
  // This rank's part of the graph on each level (pieces.h). The vertices of level 0 are tasks, for
  // which only `merged` is used.
  std::vector<Piece> pieces_;
};

/// Returns a hash of what must be the same on all ranks: the strategy, the seed, the machine's
/// groups of places, and some of its figures, such as the total speed. These determine which
/// collectives a rank calls, and for which ranks it decides.
std::uint64_t hash_of(const Machine& machine, const Choice& strategy, std::uint64_t seed) {
  const UnitCosts unit = unit_costs(machine, machine.costs());
  std::uint64_t hash = mix(seed);
  for (const char c : strategy.text()) hash = mix(hash + static_cast<unsigned char>(c));
  for (const double number :
       {machine.total_speed(), unit.message_s, unit.byte_s, 1.0 * machine.num_nodes(),
        1.0 * machine.num_domains(), 1.0 * static_cast<int>(machine.costs().formula),
        1.0 * Resources(machine, machine.costs()).count()})
    hash = mix(hash + std::bit_cast<std::uint64_t>(number));
  for (const Level& level : machine.levels())
    if (level.num_groups() < machine.num_places())
      for (const PlaceId first : level.first_place) hash = mix(hash + first);
  return hash >> 32;  // so that sums over ranks do not overflow
}

/// Returns averages over all ranks. Throws Error if `hash`, the result of hash_of(), is not the
/// same on all ranks.
AveragePlace average_of(Communicator& ranks, const Machine& machine, const OwnTasks& own,
                        std::uint64_t hash) {
  double load_s = own.background_s * machine.speed_of(ranks.rank());
  for (const double task_s : own.load_s) load_s += task_s;
  const double load_of_all_s = ranks.sum(load_s);
  std::uint64_t sums[] = {own.ids.size(), hash};
  ranks.sum(sums);
  if (sums[1] != ranks.num_ranks() * hash)
    fail("the strategy, the seed or the machine differs between ranks; pass the same on all ranks");
  return {.load_s = load_of_all_s / ranks.num_ranks(), .tasks = 1.0 * sums[0] / ranks.num_ranks()};
}

/// True if messages may take a noticeable part of the run time.
bool messages_weigh(Communicator& ranks, const Machine& machine, const OwnTasks& own,
                    const AveragePlace& average) {
  const UnitCosts unit = unit_costs(machine, machine.costs());
  double message_s = 0;
  for (std::size_t i = 0; i < own.to.size(); ++i)
    message_s += own.count(i) * unit.message_s + own.bytes_of_message(i) * unit.byte_s;
  return distributed_tuning::kShareOfMessages * ranks.sum(message_s) / ranks.num_ranks() >
         distributed_tuning::kMessagesWeigh * average.load_s;
}

/// Number of iterations in which migrations must pay off. Empty if the strategy does not minimise
/// the total time.
std::optional<double> steps_of(const Choice& strategy) {
  if (strategy.strategy->name != "poise" || strategy.knobs["from_scratch"] != 0) return {};
  const double steps = strategy.knobs["steps"];
  return steps > 0 ? steps : kUsualSteps;
}

/// The targets of this rank's tasks (a rank for each task), and what they cost.
struct Candidate {
  std::vector<std::uint32_t> targets;
  PlannedTimes times = {};
};

/// Runs V-cycles and chooses among their results. All member functions are collective.
class Decision {
 public:
  Decision(Communicator& ranks, const Machine& machine, const OwnTasks& own, const Choice& strategy,
           std::uint64_t seed, const DistributedLimits& limits)
      : ranks_(ranks),
        machine_(machine),
        own_(own),
        strategy_(strategy),
        seed_(seed),
        limits_(limits),
        average_(average_of(ranks, machine, own, hash_of(machine, strategy, seed))),
        wide_(is_coarse() ? 2 : 1, limits.width) {
    if (messages_weigh(ranks, machine, own, average_)) narrow_ = {narrow_width(), limits.width};
  }

  /// Returns for each task of this rank the rank to which it is assigned.
  std::vector<std::uint32_t> targets() {
    if (const std::optional<double> steps = steps_of(strategy_)) return shortest(*steps);
    return after(narrow_.empty() ? wide_ : narrow_);
  }

 private:
  bool is_coarse() const {
    const double siblings = std::min(ranks_.num_ranks(), limits_.width);
    return ranks_.max(weight_of(own_, average_)) > distributed_tuning::kCoarse * siblings;
  }

  std::uint32_t narrow_width() const {
    const double root = std::ceil(std::sqrt(ranks_.num_ranks()));
    return std::clamp(static_cast<std::uint32_t>(root),
                      std::min(distributed_tuning::kMinWidth, limits_.width), limits_.width);
  }

  /// Runs one V-cycle per entry of `widths`. The entry limits the number of members of a group in
  /// that cycle. Returns the targets after the last cycle.
  std::vector<std::uint32_t> after(const std::vector<std::uint32_t>& widths) const {
    std::optional<Travellers> travellers;
    for (std::size_t cycle = 0;; ++cycle) {
      const OwnTasks now = travellers ? travellers->view() : own_;
      const RankGroups groups(machine_, widths[cycle]);
      const DecisionContext context{machine_,           groups,       strategy_, seed_,
                                    own_.loads_include, widths.size()};
      OwnGraph graph(ranks_, now);
      const std::vector<std::uint32_t> targets =
          Cycle(ranks_, context, average_, limits_).run(now, graph);
      if (cycle + 1 == widths.size())
        return travellers ? travellers->told_home(ranks_, targets, own_.num_tasks()) : targets;
      travellers =
          Travellers::moved(ranks_, now, graph, targets, travellers ? &*travellers : nullptr);
    }
  }

  void find_times(std::initializer_list<Candidate*> candidates) const {
    const OwnGraph graph(ranks_, own_);
    for (Candidate* const candidate : candidates)
      candidate->times = planned_times(ranks_, machine_, own_, graph, candidate->targets);
  }

  /// Compares up to three candidates and returns the one with the shortest total time: the current
  /// ranks of the tasks; the result of cycles with wide groups; and, if messages make the iteration
  /// notably longer than the average load, the result of cycles that begin with narrow groups. Each
  /// of these can be the best, because leaders decide about a coarser graph, whose predicted times
  /// are inexact. Narrow groups are tried last: the leader of a small group puts tasks that
  /// communicate close to each other, but only by moving many tasks.
  std::vector<std::uint32_t> shortest(double steps) {
    Candidate best{std::vector<std::uint32_t>(own_.num_tasks(), ranks_.rank())};
    Candidate wide{after(wide_)};
    if (narrow_.empty() && ranks_.max(std::uint64_t{wide.targets != best.targets}) == 0)
      return std::move(best.targets);
    find_times({&best, &wide});
    if (wide.times.total_s(steps) < best.times.total_s(steps)) best = std::move(wide);
    const double busy_s = average_.load_s * ranks_.num_ranks() / machine_.total_speed();
    if (narrow_.empty() ||
        best.times.iteration_s <= (1 + distributed_tuning::kMessagesWeigh) * busy_s)
      return std::move(best.targets);
    Candidate narrow{after(narrow_)};
    find_times({&narrow});
    if (narrow.times.total_s(steps) < best.times.total_s(steps)) best = std::move(narrow);
    return std::move(best.targets);
  }

  Communicator& ranks_;
  const Machine& machine_;
  const OwnTasks& own_;
  const Choice& strategy_;
  const std::uint64_t seed_;
  const DistributedLimits& limits_;
  const AveragePlace average_;
  // Maximum number of members of a group in each successive cycle. If messages take a notable part
  // of the time, cycles with `narrow_`, whose first groups are smaller, are an alternative;
  // otherwise `narrow_` is empty.
  const std::vector<std::uint32_t> wide_;
  std::vector<std::uint32_t> narrow_;
};

std::vector<Arrival> imports_of(Communicator& ranks, const OwnTasks& own,
                                const std::vector<std::uint32_t>& rank_of_task) {
  Mail<std::uint64_t> leaving;
  for (std::size_t t = 0; t < rank_of_task.size(); ++t)
    if (rank_of_task[t] != ranks.rank()) leaving[rank_of_task[t]].push_back(own.ids[t]);
  std::vector<Arrival> arrivals;
  for (const auto& [rank, ids] : ranks.exchange(leaving))
    for (const std::uint64_t id : ids) arrivals.push_back({id, rank});
  return arrivals;
}

DistributedPlan planned(Communicator& ranks, const Machine& machine, const OwnTasks& own,
                        const Choice& strategy, std::uint64_t seed,
                        const DistributedLimits& limits) {
  check(own, ranks.num_ranks());
  if (machine.num_places() != ranks.num_ranks())
    fail("the machine has {} places, but it must have one for each of the {} ranks",
         machine.num_places(), ranks.num_ranks());
  if (!strategy.strategy->needs.empty())
    fail(
        "strategy {} needs {}, which Poise does not know if all ranks decide together; use another "
        "strategy",
        strategy.strategy->name, strategy.strategy->needs);
  DistributedPlan plan;
  plan.rank_of_task = Decision(ranks, machine, own, strategy, seed, limits).targets();
  plan.imports = imports_of(ranks, own, plan.rank_of_task);
  return plan;
}

}  // namespace

DistributedPlan plan_distributed(Communicator& ranks, const Machine& machine, const OwnTasks& own,
                                 const Choice& strategy, std::uint64_t seed,
                                 const DistributedLimits& limits) {
  DistributedPlan plan;
  agreed(ranks, [&] { plan = planned(ranks, machine, own, strategy, seed, limits); });
  return plan;
}

}  // namespace poise
