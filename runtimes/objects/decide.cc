#include "runtimes/objects/decide.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>

#include "runtimes/objects/collectives.h"

#include "poise/base/random.h"
#include "poise/machine/slots.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"

namespace poise::objects {

namespace {

constexpr std::uint32_t kManyPlaces = 256;
constexpr std::size_t kLongestPast = 64;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Mode chosen_mode(const World& world, Mode asked) {
  if (asked != Mode::automatic) return asked;
  const bool is_large = world.machine.num_places() > kManyPlaces && world.num_hosts > 1 &&
                        world.machine.num_places() > world.num_hosts;
  return is_large ? Mode::hierarchical : Mode::root;
}

std::uint64_t hash_of(const Placement& placement) {
  std::uint64_t hash = placement.num_tasks();
  for (const PlaceId p : placement.places()) hash = mix(hash ^ p);
  return hash;
}

/// Of the texts of all ranks the first that says something, everywhere.
std::string first_of(MPI_Comm comm, const std::string& text) {
  std::vector<char> row(text.begin(), text.end());
  if (!row.empty()) row.push_back('\0');
  const std::vector<char> all = allgather_rows(comm, row);
  return {all.begin(), std::find(all.begin(), all.end(), '\0')};
}

}  // namespace

Decider::Decider(MPI_Comm comm, const World& world, const Options& options, ObjectId num_objects,
                 std::uint32_t threads_per_place)
    : comm_(comm),
      world_(world),
      options_(options),
      num_objects_(num_objects),
      threads_per_place_(threads_per_place),
      choice_(parse_strategy(options.strategy)),
      mode_(chosen_mode(world, options.mode)) {
  if (mode_ != Mode::hierarchical) return;
  const auto host = static_cast<int>(world.host_of_rank[static_cast<std::size_t>(world.rank)]);
  MPI_Comm_split(comm, host, world.rank, &host_);
  int rank_on_host = 0;
  MPI_Comm_rank(host_, &rank_on_host);
  MPI_Comm_split(comm, rank_on_host == 0 ? 0 : MPI_UNDEFINED, world.rank, &leaders_);
}

Decider::~Decider() {
  if (host_ != MPI_COMM_NULL) MPI_Comm_free(&host_);
  if (leaders_ != MPI_COMM_NULL) MPI_Comm_free(&leaders_);
}

MeasuredPhase Decider::census(const Measurements& all) const {
  return phase_of(all, num_objects_, world_.machine.num_places(), options_.clock == Clock::wall,
                  threads_per_place_);
}

void Decider::remember(const MeasuredPhase& census) {
  if (past_loads_s_.size() == kLongestPast) past_loads_s_.erase(past_loads_s_.begin());
  auto& loads = past_loads_s_.emplace_back();
  for (const Task& task : census.workload.tasks) loads.push_back(task.load_s);
}

Outcome Decider::ask(const Machine& machine, const MeasuredPhase& census) const {
  const bool knows_past = census.workload.num_tasks() == num_objects_;
  return balance::run_strategy(
      std::make_shared<const balance::OwnedProblem>(balance::OwnedProblem{
          machine, census, knows_past ? past_loads_s_ : decltype(past_loads_s_){}, choice_,
          options_.seed}),
      options_.budget_s);
}

Outcome Decider::at_root(const Measurements& own, Decision& decision) {
  const Measurements all = gather_measurements(comm_, own, 0);
  Outcome answer;
  std::vector<PlaceId> places;
  if (world_.rank == 0) {
    decision.phase = census(all);
    answer = ask(world_.machine, *decision.phase);
    remember(*decision.phase);
    places.assign(answer.placement.places().begin(), answer.placement.places().end());
  }
  broadcast_rows(comm_, places);
  answer.placement = Placement(std::move(places));
  return answer;
}

Outcome Decider::everywhere(const Measurements& own, Decision& decision) {
  const MeasuredPhase all = census(gather_measurements(comm_, own, -1));
  Outcome answer = ask(world_.machine, all);
  remember(all);
  const std::vector<std::uint64_t> hashes =
      allgather_rows(comm_, std::vector<std::uint64_t>{hash_of(answer.placement)});
  if (std::adjacent_find(hashes.begin(), hashes.end(), std::not_equal_to<>()) != hashes.end())
    answer = {all.current, "the ranks did not come to the same placement"};
  if (world_.rank == 0) decision.phase = all;
  return answer;
}

/// Hosts as places, as fast as all of theirs together.
Outcome Decider::among_hosts(const MeasuredPhase& census) const {
  const Machine& machine = world_.machine;
  MachineParts parts;
  parts.name = "hosts";
  parts.levels.push_back({.name = "node"});
  parts.network = machine.network();
  parts.costs = machine.costs();
  MeasuredPhase coarse{census.workload, {}};
  std::vector<double>& background_s = coarse.workload.background_s;
  background_s.assign(world_.num_hosts, 0);
  for (NodeId n = 0; n < world_.num_hosts; ++n) {
    parts.places.push_back({n, 0, 0});
    parts.levels[0].first_place.push_back(n);
    parts.kind_of_node.push_back(0);
  }
  parts.levels[0].first_place.push_back(world_.num_hosts);
  for (PlaceId p = 0; p < machine.num_places(); ++p) {
    parts.places[machine.node_of_place(p)].speed += machine.speed_of(p);
    background_s[machine.node_of_place(p)] += census.workload.background_s[p] * machine.speed_of(p);
  }
  double fastest = 0;
  for (const Place& place : parts.places) fastest = std::max(fastest, place.speed);
  for (Place& place : parts.places) {
    background_s[place.domain] /= place.speed;
    place.speed /= fastest;
  }
  for (Task& task : coarse.workload.tasks) task.load_s /= fastest;
  std::vector<PlaceId> hosts;
  for (const PlaceId p : census.current.places()) hosts.push_back(machine.node_of_place(p));
  coarse.current = Placement(std::move(hosts));
  return ask(Machine(std::move(parts)), coarse);
}

/// The host's own places for the tasks it has now; messages beyond it do not count.
Outcome Decider::inside_host(const MeasuredPhase& census, const Placement& host_of_task,
                             std::vector<TaskId>& tasks) const {
  const Machine& machine = world_.machine;
  const NodeId host = world_.host_of_rank[static_cast<std::size_t>(world_.rank)];
  const PlaceId first = machine.first_place(machine.first_domain(host));
  std::vector<PlaceId> places;
  for (PlaceId p = first; p < machine.num_places() && machine.node_of_place(p) == host; ++p)
    places.push_back(p);
  MeasuredPhase own;
  own.workload.waits_in_subphases = census.workload.waits_in_subphases;
  std::vector<PlaceId> current;
  std::vector<TaskId> index_of(num_objects_, num_objects_);
  for (TaskId t = 0; t < num_objects_; ++t) {
    if (host_of_task.of(t) != host) continue;
    const auto index = static_cast<TaskId>(tasks.size());
    const bool was_here = machine.node_of_place(census.current.of(t)) == host;
    current.push_back(was_here ? census.current.of(t) - first
                               : static_cast<PlaceId>(index % places.size()));
    index_of[t] = index;
    tasks.push_back(t);
    own.workload.tasks.push_back(census.workload.tasks[t]);
    if (!census.workload.positions.empty())
      own.workload.positions.push_back(census.workload.positions[t]);
    if (!census.workload.subphase_load_s.empty())
      own.workload.subphase_load_s.push_back(census.workload.subphase_load_s[t]);
  }
  for (const auto& [from, to, count, bytes] : census.workload.messages)
    if (index_of[from] < num_objects_ && index_of[to] < num_objects_)
      own.workload.messages.push_back({index_of[from], index_of[to], count, bytes});
  for (const PlaceId p : places)
    own.workload.background_s.push_back(census.workload.background_s[p]);
  own.current = Placement(std::move(current));
  Outcome answer = ask(slots_of(machine, places), own);
  for (TaskId i = 0; i < answer.placement.num_tasks(); ++i)
    answer.placement.move(i, answer.placement.of(i) + first);
  return answer;
}

Outcome Decider::by_hosts(const Measurements& own, Decision& decision) {
  const Measurements host = gather_measurements(host_, own, 0);
  Outcome answer;
  std::vector<PlaceId> places;
  if (leaders_ != MPI_COMM_NULL) {
    const MeasuredPhase all = census(gather_measurements(leaders_, host, -1));
    std::vector<PlaceId> hosts;
    std::string trouble;
    if (world_.rank == 0) {
      const Outcome coarse = among_hosts(all);
      hosts.assign(coarse.placement.places().begin(), coarse.placement.places().end());
      trouble = coarse.trouble;
      decision.phase = all;
    }
    broadcast_rows(leaders_, hosts);
    std::vector<TaskId> tasks;
    answer = inside_host(all, Placement(std::move(hosts)), tasks);
    if (trouble.empty()) trouble = answer.trouble;
    std::vector<Migration> found;
    for (TaskId i = 0; i < tasks.size(); ++i)
      found.push_back({tasks[i], 0, answer.placement.of(i)});
    places.resize(num_objects_);
    for (const Migration& migration : allgather_rows(leaders_, found))
      places[migration.task] = migration.to;
    // Where one leader fails, all of them stay where they are.
    answer.trouble = first_of(leaders_, trouble);
    if (!answer.trouble.empty())
      places.assign(all.current.places().begin(), all.current.places().end());
  }
  broadcast_rows(host_, places);
  answer.placement = Placement(std::move(places));
  return answer;
}

Decision Decider::decide(const Measurements& own) {
  const double start_s = now_s();
  Decision decision;
  Outcome answer = mode_ == Mode::root         ? at_root(own, decision)
                   : mode_ == Mode::replicated ? everywhere(own, decision)
                                               : by_hosts(own, decision);
  std::vector<double> imbalances{1, 1};
  if (decision.phase) {
    const auto& [workload, current] = *decision.phase;
    const Machine& machine = world_.machine;
    imbalances[0] = evaluate(machine, workload, machine.costs(), current, current).imbalance;
    imbalances[1] =
        evaluate(machine, workload, machine.costs(), current, answer.placement).imbalance;
  }
  broadcast_rows(comm_, imbalances);
  decision.imbalance_before = imbalances[0];
  decision.imbalance_after = imbalances[1];
  decision.placement = std::move(answer.placement);
  if (world_.rank == 0) decision.trouble = std::move(answer.trouble);
  decision.decision_s = now_s() - start_s;
  return decision;
}

}  // namespace poise::objects
