// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/joint.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <tuple>
#include <utility>

#include "runtimes/balance/job_machine.h"
#include "runtimes/balance/run_record.h"
#include "runtimes/charm/own_arrays.h"
#include "runtimes/charm/own_past.h"
#include "runtimes/charm/settings.h"
#include "runtimes/charm/stage.h"
#include "runtimes/charm/vacating.h"

#include "poise/base/clock.h"
#include "poise/base/error.h"
#include "poise/base/variables.h"
#include "poise/distributed/communicator.h"
#include "poise/distributed/own_graph.h"
#include "poise/distributed/plan.h"
#include "poise/distributed/rank_directory.h"
#include "poise/machine/find.h"
#include "poise/machine/json.h"

extern char** environ;

namespace poise::charm {

namespace {

Settings settings_of(const std::string& setting) {
  const Named named{"PoiseJointLB", parse_strategy("poise").strategy, true};
  Settings settings = settings_of(
      named, setting, [](const char* name) -> const char* { return std::getenv(name); });
  const Strategy& strategy = *settings.choice.strategy;
  if (!strategy.needs.empty())
    fail(
        "PoiseJointLB: strategy {} needs {}, which are unknown if all PEs decide together; use "
        "another strategy or PoiseLB",
        strategy.name, strategy.needs);
  return settings;
}

void sum(const poise_communication& pes, std::vector<std::uint64_t>& values) {
  if (pes.reduce(pes.context, POISE_SUM, values.size(), values.data()) != 0)
    fail("communication between PEs failed");
}

/// Broadcasts a text from PE 0: returns PE 0's `text` on every PE. Collective.
std::string text_of_first(const poise_communication& pes, const std::string& text) {
  std::vector<std::uint64_t> size{pes.rank == 0 ? text.size() : 0};
  sum(pes, size);
  std::vector<std::uint64_t> words((size[0] + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
  if (pes.rank == 0) std::memcpy(words.data(), text.data(), text.size());
  sum(pes, words);
  std::string all(size[0], '\0');
  std::memcpy(all.data(), words.data(), all.size());
  return all;
}

/// Gathers one row per PE: returns the rows of all PEs on every PE. Collective.
std::vector<PeRow> rows_of_all(const poise_communication& pes, const PeRow& own) {
  constexpr std::size_t kColumns = 3;
  std::vector<std::uint64_t> values(kColumns * pes.num_ranks);
  std::uint64_t* const mine = values.data() + kColumns * pes.rank;
  mine[0] = own.host;
  mine[1] = own.core_os_index + 1;
  mine[2] = std::bit_cast<std::uint64_t>(own.speed);
  sum(pes, values);
  std::vector<PeRow> rows(pes.num_ranks);
  for (std::size_t pe = 0; pe < rows.size(); ++pe) {
    const std::uint64_t* const row = values.data() + kColumns * pe;
    rows[pe].host = row[0];
    rows[pe].core_os_index = row[1] - 1;
    rows[pe].speed = std::bit_cast<double>(row[2]);
    rows[pe].number = pe;
  }
  return rows;
}

/// Combines the lists `unavailable` of all PEs. Returns for each place whether any PE lists the PE
/// of this place as unavailable; the result is empty if all PEs are available. Collective.
Unavailable shared(const poise_communication& pes, const std::vector<std::int32_t>& unavailable,
                   const PeMap& pe_map) {
  std::vector<std::uint64_t> count{unavailable.size()};
  sum(pes, count);
  if (count[0] == 0) return {};
  std::vector<std::uint64_t> said(pes.num_ranks);
  for (const std::int32_t pe : unavailable) said.at(pe_map.place_of_pe.at(pe)) = 1;
  sum(pes, said);
  Unavailable result;
  for (const std::uint64_t num_listing : said) result.push_back(num_listing > 0);
  return result;
}

/// Wraps the communication between PEs so that the rank of a PE is the id of its place.
class InOrderOfPlaces {
 public:
  InOrderOfPlaces(const poise_communication& pes, const PeMap& pe_map)
      : pes_(pes), pe_map_(pe_map) {}

  poise_communication table() {
    return {this, pe_map_.place_of_pe[pes_.rank], pes_.num_ranks, exchange, reduce};
  }

 private:
  struct Renamed {
    const PeMap& pe_map;
    poise_receive receive;
    void* receiver;
  };

  static int exchange(void* context, std::uint64_t num_sends, const std::uint32_t* to,
                      const void* const* data, const std::uint64_t* bytes, poise_receive receive,
                      void* receiver) {
    auto& self = *static_cast<InOrderOfPlaces*>(context);
    std::vector<std::uint32_t> pe(num_sends);
    for (std::size_t i = 0; i < num_sends; ++i) pe[i] = self.pe_map_.pe_of_place[to[i]];
    Renamed renamed{self.pe_map_, receive, receiver};
    const auto take = [](void* to_renamed, std::uint32_t from, const void* message,
                         std::uint64_t size) {
      const Renamed& by_place = *static_cast<Renamed*>(to_renamed);
      by_place.receive(by_place.receiver, by_place.pe_map.place_of_pe[from], message, size);
    };
    return self.pes_.exchange(self.pes_.context, num_sends, pe.data(), data, bytes, take, &renamed);
  }

  static int reduce(void* context, int reduction, std::uint64_t count, std::uint64_t* values) {
    const poise_communication& pes = static_cast<InOrderOfPlaces*>(context)->pes_;
    return pes.reduce(pes.context, reduction, count, values);
  }

  const poise_communication& pes_;
  const PeMap& pe_map_;
};

/// Finds the ranks of receivers. Messages to objects that no PE has are dropped. Collective.
void find_receivers(Communicator& ranks, OwnArrays& arrays) {
  std::vector<std::uint64_t> wanted = arrays.to;
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  const std::vector<std::uint32_t> found = ranks_of_tasks(ranks, arrays.ids, wanted);
  std::vector<std::uint32_t> rank_of_receiver;
  rank_of_receiver.reserve(arrays.to.size());
  for (const std::uint64_t id : arrays.to)
    rank_of_receiver.push_back(
        found[std::lower_bound(wanted.begin(), wanted.end(), id) - wanted.begin()]);
  set_ranks(arrays, rank_of_receiver);
}

/// After the decision, the PE of a sender must know the PE of each receiver. Returns the new PEs of
/// the receivers of this rank's messages, but leaves out each receiver whose PE the sender's PE
/// knows already. Collective.
std::vector<News> news_of(Communicator& ranks, const OwnArrays& arrays, const OwnTasks& tasks,
                          const std::vector<std::uint32_t>& rank_of_task, const PeMap& pe_map) {
  const OwnGraph graph(ranks, tasks);
  const std::vector<std::uint32_t> ghosts = ask_owners(ranks, graph.ghosts(), rank_of_task);
  std::vector<News> news;
  for (std::uint32_t task = 0; task < tasks.num_tasks(); ++task)
    for (std::size_t i = arrays.first[task]; i < arrays.first[task + 1]; ++i) {
      const std::uint32_t from = rank_of_task[task],
                          to = graph.rank_of_receiver(i, rank_of_task, ghosts);
      const std::int32_t pe = pe_map.pe_of_place[to], told_pe = pe_map.pe_of_place[from];
      const bool is_known = from == ranks.rank() && to == arrays.to_rank[i] &&
                            (arrays.sent_to_pe[i] < 0 || arrays.sent_to_pe[i] == pe);
      if (from == to || is_known) continue;
      news.push_back({arrays.receivers[i], pe, told_pe});
    }
  const auto key = [](const News& n) { return std::tie(n.told_pe, n.object.array, n.object.id); };
  std::sort(news.begin(), news.end(),
            [&](const News& a, const News& b) { return key(a) < key(b); });
  news.erase(std::unique(news.begin(), news.end(),
                         [&](const News& a, const News& b) { return key(a) == key(b); }),
             news.end());
  return news;
}

JointDecision unchanged(const Statistics& own, const poise_communication& pes) {
  JointDecision decision;
  decision.pe_of_object.resize(own.num_objects(), pes.rank);
  return decision;
}

}  // namespace

struct JointBalancer::State {
  void meet(const Statistics& own, const poise_communication& pes);
  JointDecision decided(const Statistics& own, const std::vector<std::int32_t>& listed,
                        const poise_communication& pes);
  std::vector<std::uint32_t> planned(Communicator& ranks, const OwnTasks& tasks,
                                     const OwnArrays& arrays) const;
  void write_down(Communicator& ranks, const OwnArrays& arrays,
                  const std::vector<std::uint32_t>& rank_of_task, JointDecision& decision);
  std::string news_of_trouble(const poise_communication& pes, const std::string& trouble);
  bool wants_messages() const { return !settings->choice.strategy->ignores_messages; }

  std::optional<Settings> settings = {};  // at first on PE 0 only
  std::string first_host = {};            // as JSON, on PE 0 only
  std::optional<Stage> stage = {};        // known after the first decision
  Unavailable unavailable = {};           // empty if all PEs are available
  std::optional<Machine> machine = {};    // stage's machine, with unavailable PEs as slow places
  OwnPast past = {};
  std::uint64_t num_decisions = 0;
  std::optional<balance::RunRecord> log = {};  // on PE 0
  bool has_warned = false, has_warned_of_log = false, has_told_variables = false;
};

/// All PEs get PE 0's settings and number of decisions, and learn the machine. Collective.
void JointBalancer::State::meet(const Statistics& own, const poise_communication& pes) {
  std::string text = settings ? settings->choice.text() : "";
  text = text_of_first(pes, text);
  if (!settings) settings = Settings{parse_strategy(text)};
  std::vector<std::uint64_t> decisions{pes.rank == 0 ? num_decisions : 0};
  sum(pes, decisions);
  num_decisions = decisions[0];
  const std::string host = text_of_first(pes, first_host);
  Statistics all;
  all.pes = rows_of_all(pes, own.pes.at(0));
  stage = stage_of(
      balance::with_assumptions(machine_from_json(host, "the machine of the first PE")), all);
  first_host.clear();
}

/// Counts moves, and writes a line to the log if there is one. Collective.
void JointBalancer::State::write_down(Communicator& ranks, const OwnArrays& arrays,
                                      const std::vector<std::uint32_t>& rank_of_task,
                                      JointDecision& decision) {
  decision.num_moves = ranks.sum(decision.num_arriving);
  const double speed = stage->speed_of_place[ranks.rank()];
  double before_s = arrays.background_s, after_s = before_s;
  Mail<double> leaving;
  for (std::size_t task = 0; task < rank_of_task.size(); ++task) {
    before_s += arrays.load_s[task] / speed;
    if (rank_of_task[task] == ranks.rank())
      after_s += arrays.load_s[task] / speed;
    else
      leaving[rank_of_task[task]].push_back(arrays.load_s[task]);
  }
  for (const auto& [rank, loads_s] : ranks.exchange(leaving))
    for (const double load_s : loads_s) after_s += load_s / speed;
  balance::BalanceResult result;
  result.step = num_decisions;
  const double average_s = ranks.sum(before_s * speed) / stage->machine.total_speed();
  before_s = ranks.max(before_s);
  after_s = ranks.max(after_s);
  result.imbalance_before = average_s > 0 ? before_s / average_s : 1;
  result.imbalance_after = average_s > 0 ? after_s / average_s : 1;
  result.migrations = decision.num_moves;
  result.decision_s = decision.decide_s;
  result.migration_s = -1;
  if (settings->log.empty()) return;  // only PE 0 knows the log's path
  try {
    if (!log) log.emplace("", settings->log, stage->machine);
    log->add(settings->choice.text(), result);
  } catch (const std::exception& error) {
    if (!std::exchange(has_warned_of_log, true))
      decision.warning = fmt::format("this decision is missing from the log: {}", error.what());
  }
}

/// Returns the new rank of each task. Collective.
std::vector<std::uint32_t> JointBalancer::State::planned(Communicator& ranks, const OwnTasks& tasks,
                                                         const OwnArrays& arrays) const {
  DistributedPlan plan = plan_distributed(ranks, *machine, tasks, settings->choice, num_decisions);
  if (!unavailable.empty()) avoid(unavailable, arrays, ranks.rank(), plan.rank_of_task);
  return std::move(plan.rank_of_task);
}

JointDecision JointBalancer::State::decided(const Statistics& own,
                                            const std::vector<std::int32_t>& listed,
                                            const poise_communication& pes) {
  const double start_s = wall_now_s();
  if (!stage) {
    Communicator all(pes);
    agreed(all, [&] { meet(own, pes); });
  }
  InOrderOfPlaces ordered(pes, stage->pe_map);
  Communicator ranks(ordered.table());
  JointDecision decision = unchanged(own, pes);
  agreed(ranks, [&] {
    Unavailable now = shared(pes, listed, stage->pe_map);
    if (!machine || now != unavailable) {
      machine = now.empty() ? stage->machine : slowed(stage->machine, now);
      unavailable = std::move(now);
    }
    OwnArrays arrays = own_arrays(own, stage->speed_of_place[ranks.rank()],
                                  wants_messages() ? Messages::convert : Messages::leave_out);
    check(arrays.view(), ranks.num_ranks());  // first: invalid loads would spoil sums over ranks
    decision.num_objects = past.replace_spikes(ranks, arrays);
    if (wants_messages()) find_receivers(ranks, arrays);
    if (!unavailable.empty() && unavailable[ranks.rank()]) drop_fixed_loads(arrays);
    const OwnTasks tasks = arrays.view();
    const std::vector<std::uint32_t> rank_of_task = planned(ranks, tasks, arrays);
    if (wants_messages())
      decision.news = news_of(ranks, arrays, tasks, rank_of_task, stage->pe_map);
    OwnPast next = past.after(ranks, rank_of_task, decision.num_arriving);
    decision.decide_s = wall_now_s() - start_s;
    if (settings->budget_s > 0 && decision.decide_s > settings->budget_s)
      fail("the decision took longer than its budget of {} s (POISE_BUDGET)", settings->budget_s);
    write_down(ranks, arrays, rank_of_task, decision);
    past = std::move(next);
    for (std::size_t task = 0; task < arrays.row_of_task.size(); ++task)
      decision.pe_of_object[arrays.row_of_task[task]] =
          stage->pe_map.pe_of_place[rank_of_task[task]];
  });
  return decision;
}

/// If the decision failed on several PEs, only the first of them returns its warning. Collective.
std::string JointBalancer::State::news_of_trouble(const poise_communication& pes,
                                                  const std::string& trouble) {
  std::uint64_t first = trouble.empty() ? 0 : pes.num_ranks - std::uint64_t{pes.rank};
  const std::uint64_t own = first;
  if (pes.reduce(pes.context, POISE_MAX, 1, &first) != 0) return "";
  const bool was_known = std::exchange(has_warned, true);
  if (was_known || own == 0 || first != own) return "";
  return fmt::format("strategy {} failed, so objects stay where they are: {}",
                     settings ? settings->choice.text() : "", trouble);
}

JointBalancer::JointBalancer() : state_(std::make_unique<State>()) {}
JointBalancer::~JointBalancer() = default;

void JointBalancer::prepare(const std::string& setting) {
  state_->settings = settings_of(setting);
  const Settings& settings = *state_->settings;
  state_->first_host = machine_to_json(settings.machine.empty() ? balance::own_node()
                                                                : find_machine(settings.machine));
}

JointDecision JointBalancer::decide(const Statistics& own,
                                    const std::vector<std::int32_t>& unavailable,
                                    const poise_communication& pes) noexcept {
  JointDecision decision;
  std::string trouble;
  bool has_failed = true;
  try {
    decision = state_->decided(own, unavailable, pes);
    has_failed = false;
  } catch (const OtherRankError&) {  // the PE that failed says why
  } catch (...) {
    trouble = thrown_text();
  }
  ++state_->num_decisions;
  if (has_failed) {
    decision = unchanged(own, pes);
    decision.warning = state_->news_of_trouble(pes, trouble);
  } else if (pes.rank == 0 && decision.warning.empty() &&
             !std::exchange(state_->has_told_variables, true)) {
    decision.warning = fmt::format("{}", fmt::join(notes_on(environ, reader::charm), "; "));
  }
  return decision;
}

std::uint64_t JointBalancer::num_decisions() const { return state_->num_decisions; }

void JointBalancer::restart(std::uint64_t num_decisions) { state_->num_decisions = num_decisions; }

std::string JointBalancer::strategy() const {
  return state_->settings ? state_->settings->choice.text() : "";
}

bool joint_wants_messages(const std::string& setting) {
  return !settings_of(setting).choice.strategy->ignores_messages;
}

}  // namespace poise::charm
