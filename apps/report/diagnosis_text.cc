// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/diagnosis_text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string_view>

#include "apps/text/format.h"
#include "apps/text/output.h"

#include "poise/base/enum_index.h"
#include "poise/base/text.h"
#include "poise/diagnosis/tuning.h"

namespace poise::apps {

namespace {

constexpr std::size_t kColumns = 80, kMaxNamed = 5, kMaxLate = 3;
// Sleep outside MPI is reported from this share of the ranks' time on.
constexpr double kMinAsleep = 0.1;
constexpr std::string_view kRemedies[] = {"nothing", "exclusive",   "quota",   "mapping", "binding",
                                          "juggle",  "fewer_ranks", "objects", "lending"};
constexpr std::string_view kKinds[] = {"none",     "persistent", "named",
                                       "drifting", "random",     "unknown"};

/// Returns "every phase", or for example "every 5 phases".
std::string interval_text(std::uint32_t every) {
  return every == 1 ? "every phase" : "every " + count_text(every, "phase");
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

/// Breaks a text into lines of at most kColumns, the first of which begins with `head`.
std::string wrapped(const std::string& head, const std::string& text) {
  std::string result = head, word;
  std::size_t column = head.size();
  const std::string indent(head.size(), ' ');
  bool is_first = true;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != ' ') {
      word += text[i];
      continue;
    }
    if (!is_first && column + 1 + word.size() > kColumns) {
      result += '\n' + indent;
      column = indent.size();
    } else if (!is_first) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
    word.clear();
    is_first = false;
  }
  return result + '\n';
}

std::string efficiency_line(int depth, std::string_view name, double share,
                            std::string_view says = {}) {
  std::string line =
      fmt::format("  {:{}}{:<{}}{:>5.1f} %", "", 2 * depth, name, 27 - 2 * depth, 100 * share);
  if (!says.empty()) line += fmt::format("  {}", says);
  return line + '\n';
}

std::string efficiencies_text(const Efficiencies& e, bool has_nodes, bool knows_waiting) {
  std::string text = efficiency_line(0, "Parallel efficiency", e.parallel,
                                     "of the ranks' time is useful computation");
  text +=
      efficiency_line(1, "Load balance", e.load_balance, "mean over largest useful time of a rank");
  if (has_nodes) {
    text += efficiency_line(2, "inside nodes", e.inside_nodes);
    text += efficiency_line(2, "between nodes", e.between_nodes);
  }
  text += efficiency_line(1, "Communication efficiency", e.communication,
                          "largest useful time over run time");
  if (!knows_waiting) return text;
  text += efficiency_line(2, "Serialisation", e.serialisation, "ranks wait for each other in turn");
  const std::string width =
      e.transfer_half_width > 0.0005 ? fmt::format(" (+-{:.1f})", 100 * e.transfer_half_width) : "";
  text += efficiency_line(2, "Transfer", e.transfer, "time in which data travel" + width);
  return text;
}

std::string late_text(const Diagnosis& diagnosis) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kMaxLate, diagnosis.late.size()); ++i) {
    const LateRank& late = diagnosis.late[i];
    if (late.seconds < 0.01 * diagnosis.whole.run_s) break;
    text += wrapped(
        "", fmt::format("Rank {} made {} {} wait {}{}.", late.rank, late.num_waiting,
                        late.num_waiting == 1 ? "other" : "others", seconds_text(late.seconds),
                        late.num_waiting == 1 ? "" : " in total"));
  }
  return text;
}

std::string imbalance_text(const Diagnosis& diagnosis) {
  const Imbalance& i = diagnosis.imbalance;
  const auto share = [&](double s) { return i.total_s > 0 ? percent(s / i.total_s) : "0 %"; };
  const std::string lost = fmt::format(
      "In each phase the busiest rank computes longer than the mean: in total by {}, {} of the run",
      seconds_text(i.total_s), percent(i.total_s / diagnosis.whole.run_s));
  switch (i.kind) {
    case ImbalanceKind::none:
      return fmt::format("The imbalance of the work costs at most {} of the run.\n",
                         percent(diagnosis_tuning::kMinShare));
    case ImbalanceKind::persistent:
      return wrapped("", fmt::format("{}. This imbalance is persistent: the same ranks have more "
                                     "work in all phases. Distributing the work once removes {}.",
                                     lost, share(i.persistent_s)));
    case ImbalanceKind::named:
      return wrapped("", fmt::format("{}. This imbalance is persistent in phases of the same name: "
                                     "in all of them the same ranks have more work. Distributing "
                                     "the work once, such that the phases of each name are even, "
                                     "removes {}.",
                                     lost, share(i.named_s)));
    case ImbalanceKind::drifting:
      return wrapped("", fmt::format("{}. This imbalance is drifting: the ranks with more work "
                                     "change slowly. Distributing the work {} removes {} of it; "
                                     "distributing it once removes {}.",
                                     lost, interval_text(i.every), share(i.periodic_s),
                                     share(i.persistent_s)));
    case ImbalanceKind::unknown:
      return wrapped("", fmt::format("{}. The run has too few phases to tell whether the same "
                                     "ranks have more work in all of them.",
                                     lost));
    default:
      return wrapped("", fmt::format("{}. This imbalance is random: past phases do not tell which "
                                     "ranks will have more work. Distributing the work by past "
                                     "phases removes {} of it.",
                                     lost, share(std::max(i.periodic_s, i.persistent_s))));
  }
}

/// Says how much CPU time other programs used on the cores of the run.
std::string others_text(const MeasuredRun& run, double run_s) {
  const double all_s = std::accumulate(run.others_s.begin(), run.others_s.end(), 0.0);
  const auto most = std::ranges::max_element(run.others_s);
  if (all_s <= 0.01 * run_s * run.num_ranks()) return "";  // daemons
  const auto node = static_cast<std::uint32_t>(most - run.others_s.begin());
  const auto first = std::ranges::find(run.node_of_rank, node) - run.node_of_rank.begin();
  return wrapped(
      "", fmt::format("Other programs used the cores of this run for {}{}.", seconds_text(all_s),
                      run.others_s.size() > 1
                          ? fmt::format(" in total, {} of it on the node of rank {}",
                                        seconds_text(*most), first)
                          : ""));
}

std::string cpus_text(double cpus) {
  return fmt::format("{:.3g} cpu{}", cpus, cpus == 1 ? "" : "s");
}

/// Says how long a CPU quota stopped the ranks.
std::string quota_text(const MeasuredRun& run, const Diagnosis& d) {
  double stopped_s = 0;
  for (const NodeQuota& quota : run.quotas) stopped_s += quota.stopped_s;
  if (stopped_s <= 0.01 * d.whole.run_s * run.num_ranks()) return "";
  return wrapped("", fmt::format("The CPU quota of the cgroup pays for {}{}. Because of "
                                 "it, the kernel stopped the ranks for {}, summed over cpus.",
                                 cpus_text(d.quota_cpus), run.quotas.size() > 1 ? " of a node" : "",
                                 seconds_text(stopped_s)));
}

/// Says how long ranks slept outside MPI, which counts as useful time.
std::string asleep_text(const MeasuredRun& run, const Diagnosis& d) {
  if (d.whole.asleep < kMinAsleep) return "";
  std::vector<double> shares(run.num_ranks());
  for (const MeasuredPhase& phase : run.phases)
    for (std::size_t r = 0; r < shares.size(); ++r)
      shares[r] += phase.ranks[r].asleep_s / d.whole.run_s;
  const auto most = std::ranges::max_element(shares);
  return wrapped(
      "", fmt::format("Ranks slept outside MPI for {} of their time (rank {} longest, for {}). "
                      "Sleep counts as useful, because a rank may wait for an accelerator. It may "
                      "also wait for a file, or for another of its threads; MPI calls of other "
                      "threads are not timed.",
                      percent(d.whole.asleep), most - shares.begin(), percent(*most)));
}

std::string places_text(const MeasuredRun& run, const Diagnosis& d) {
  std::string text = others_text(run, d.whole.run_s) + quota_text(run, d);
  if (d.ranks_per_node > d.cores_per_node && d.cores_per_node > 0)
    text += wrapped(
        "", fmt::format("{} share the {} of a node{}.", count_text(d.ranks_per_node, "rank"),
                        count_text(d.cores_per_node, "core"),
                        d.ranks_per_node % d.cores_per_node == 0
                            ? ""
                            : "; their number is not a multiple of the number of cores"));
  if (d.whole.queued >= 0.01)
    text += wrapped(
        "", fmt::format("Ranks waited for a core for {} of their time{}. Without these waits "
                        "the load balance of their work is {}.",
                        percent(d.whole.queued),
                        run.knows_others || !d.knows_threads
                            ? ""
                            : ", perhaps behind other programs: this profile does not tell",
                        percent(d.whole.work_balance)));
  if (d.whole.queued >= 0.01 && !d.knows_threads)
    text += wrapped("",
                    "Not all ranks came to MPI_Finalize, so it is not known whether they waited "
                    "for other programs, for each other or for their own threads.");
  if (d.mapping_share >= 0.05)
    text += wrapped("", fmt::format("By the machine's model, another mapping of ranks to places "
                                    "saves {} of the cost of messages.",
                                    percent(d.mapping_share)));
  return text;
}

/// Says how evenly the threads inside ranks compute, and names the causes that slow threads down,
/// as `poise juggle --diagnose` would report them.
std::string threads_text(const Diagnosis& d) {
  std::string text;
  if (d.teams.ranks > 0 && d.teams.worst < 0.95)
    text +=
        wrapped("", fmt::format("Inside ranks, the load balance of the threads (mean over largest "
                                "time of a thread) is {}; in rank {}, the lowest, it is {}.",
                                percent(d.teams.even), d.teams.rank, percent(d.teams.worst)));
  std::map<std::string, std::uint32_t> nodes_with;
  for (const ThreadCause& found : d.threads) ++nodes_with[found.cause.text];
  for (const auto& [cause, nodes] : nodes_with)
    text += wrapped("", fmt::format("Threads, {}: {}.", count_text(nodes, "node"), cause));
  return text;
}

std::string topologies_text(const ReorderedTopologies& t) {
  if (t.calls == 0) return "";
  const std::string gain = t.before > t.after ? fmt::format("; weight x hops fell by {}",
                                                            percent(1 - t.after / t.before))
                                              : "";
  return wrapped("", fmt::format("POISE_REORDER: {} of {} process topologies reordered{}; "
                                 "deciding took {}.",
                                 t.reordered, t.calls, gain, seconds_text(t.deciding_s)));
}

std::string io_text(const MeasuredRun& run) {
  double io_s = 0, all_s = 0;
  for (const MeasuredPhase& phase : run.phases)
    for (const RankTimes& rank : phase.ranks) {
      io_s += rank.io_s;
      all_s += rank.wall_s;
    }
  if (io_s <= 0.01 * all_s) return "";
  return wrapped("", fmt::format("Ranks spent {} of their time in MPI's file functions. In "
                                 "collective ones, the time until the last rank enters counts as "
                                 "waiting; the rest counts as transfer.",
                                 percent(io_s / all_s)));
}

std::string outside_text(const MeasuredRun& run) {
  if (run.messages_outside == 0) return "";
  return wrapped("", fmt::format("Ranks sent {} to processes outside this run (MPI_Comm_spawn, "
                                 "MPI_Comm_connect). What these do is not profiled. If they run on "
                                 "the cores of this run, they count as other programs.",
                                 count_text(run.messages_outside, "message")));
}

/// Says how often work should be distributed anew: " once", or for example " every 5 phases".
/// Returns an empty text if no interval is known.
std::string how_often(const Imbalance& imbalance) {
  if (imbalance.kind == ImbalanceKind::persistent) return " once";
  if (imbalance.kind == ImbalanceKind::named) return " once, evenly in the phases of each name";
  return imbalance.kind == ImbalanceKind::unknown ? "" : ' ' + interval_text(imbalance.every);
}

/// True if the advice is to distribute work anew several times during the run. The prediction does
/// not include the program's own cost of doing so, because a profile does not show this cost.
bool is_repeated(const Imbalance& imbalance, Remedy remedy) {
  return remedy == Remedy::objects &&
         (imbalance.kind == ImbalanceKind::drifting || imbalance.kind == ImbalanceKind::random);
}

std::string what_to_do(const Diagnosis& d, const Advice& advice, const std::string& file) {
  switch (advice.remedy) {
    case Remedy::exclusive:
      return "Keep other programs off the cores of this run: stop them, or ask for nodes of your "
             "own (Slurm: --exclusive)";
    case Remedy::quota:
      return fmt::format(
          "Ask for more CPU time than that of {} (docker: --cpus, "
          "Kubernetes: limits, systemd: CPUQuota), or start fewer ranks",
          cpus_text(d.quota_cpus));
    case Remedy::mapping: return fmt::format("Map the ranks to other places: poise map {}", file);
    case Remedy::binding:
      return "Bind each rank to a core of its own: mpirun --bind-to core, srun --cpu-bind=cores";
    case Remedy::juggle:
      return "Move the ranks between the cores of their node: poise juggle -- COMMAND";
    case Remedy::fewer_ranks:
      return fmt::format("Start at most {} on a node", count_text(d.cores_per_node, "rank"));
    case Remedy::objects:
      return fmt::format(
          "Distribute the work by its cost{}: by the program's own load balancing if it has any, "
          "such as LAMMPS's command balance, or as objects (docs/objects.md)",
          how_often(d.imbalance));
    case Remedy::lending: return "Lend tasks to ranks that wait (docs/tasks.md)";
    default: return "";
  }
}

/// Explains why none of the remedies helps.
std::string nothing_text(const Diagnosis& d) {
  const Efficiencies& e = d.whole;
  if (e.parallel > 0.9 && e.asleep >= kMinAsleep)
    return "Nothing here: ranks sleep outside MPI. Find out what they wait for.";
  if (e.parallel > 0.9) return "Nothing: the run is efficient.";
  if (!d.knows_threads && 2 * e.queued >= 1 - e.parallel)
    return "Nothing here: ranks wait for cores. This profile does not tell why.";
  if (!d.knows_waiting && e.communication <= e.load_balance)
    return "Nothing here: ranks wait for each other, or time goes into moving data. This profile "
           "does not tell which.";
  if (e.transfer <= std::min(e.serialisation, e.load_balance))
    return "Nothing here: time goes into moving data. Send less, or send while computing.";
  return "Nothing here: ranks wait in turn for what others compute. Shorten the chain of "
         "dependences, or give waiting ranks other work.";
}

std::size_t num_nodes(const MeasuredRun& run) {
  return std::set<std::uint32_t>(run.node_of_rank.begin(), run.node_of_rank.end()).size();
}

double useful_sum_s(const MeasuredRun& run) {
  double sum = 0;
  for (const MeasuredPhase& phase : run.phases)
    for (const RankTimes& rank : phase.ranks) sum += rank.useful_s;
  return sum;
}

nlohmann::ordered_json json_of(const Efficiencies& e, bool knows_waiting) {
  using Json = nlohmann::ordered_json;
  const auto if_known = [&](double value) { return knows_waiting ? Json(value) : Json(nullptr); };
  return {{"run_s", e.run_s},
          {"parallel", e.parallel},
          {"load_balance", e.load_balance},
          {"inside_nodes", e.inside_nodes},
          {"between_nodes", e.between_nodes},
          {"communication", e.communication},
          {"serialisation", if_known(e.serialisation)},
          {"transfer", if_known(e.transfer)},
          {"transfer_half_width", if_known(e.transfer_half_width)},
          {"work_balance", e.work_balance},
          {"queued", e.queued},
          {"asleep", e.asleep}};
}

std::string advice_text(const Diagnosis& d, const std::string& file) {
  std::string text = "\nWhat would help most";
  if (d.advice.front().remedy == Remedy::nothing)
    return text + ":\n" + wrapped("  ", advice_sentence(d, d.advice.front(), file));
  text += " (the first saves much for little effort):\n";
  for (std::size_t i = 0; i < d.advice.size(); ++i)
    text += wrapped(fmt::format("  {}. ", i + 1), advice_sentence(d, d.advice[i], file));
  return text;
}

}  // namespace

std::string findings_text(const MeasuredRun& run, const Diagnosis& diagnosis) {
  return late_text(diagnosis) + imbalance_text(diagnosis) + places_text(run, diagnosis) +
         asleep_text(run, diagnosis) + io_text(run) + outside_text(run) + threads_text(diagnosis) +
         topologies_text(run.topologies);
}

std::string advice_sentence(const Diagnosis& d, const Advice& advice, const std::string& file) {
  if (advice.remedy == Remedy::nothing) return nothing_text(d);
  const Seconds& saved = advice.saved;
  if (!advice.is_bound && saved.half_width >= 0.95 * saved.value)
    return fmt::format("{}. Saves up to {}, expected {} of the run.", what_to_do(d, advice, file),
                       seconds_text(saved.value + saved.half_width),
                       percent(saved.value / d.whole.run_s));
  const std::string width =
      saved.half_width > 0 ? fmt::format(" (+-{})", seconds_text(saved.half_width)) : "";
  const std::string repeated =
      is_repeated(d.imbalance, advice.remedy)
          ? fmt::format(", minus the time that the program needs for {}",
                        count_text(d.imbalance.distributions, "distribution"))
          : "";
  return fmt::format("{}. Saves {}{}{}, {} of the run{}.", what_to_do(d, advice, file),
                     advice.is_bound ? "at most " : "about ", seconds_text(saved.value), width,
                     percent(saved.value / d.whole.run_s), repeated);
}

std::string remedy_text(Remedy remedy) {
  std::string text(kRemedies[index_of(remedy)]);
  std::ranges::replace(text, '_', ' ');
  return text;
}

std::string diagnosis_text(const MeasuredRun& run, const Diagnosis& diagnosis,
                           const std::string& file) {
  const std::size_t nodes = num_nodes(run);
  std::string text = fmt::format("{} on {}, {}, {}\n\n", count_text(run.num_ranks(), "rank"),
                                 count_text(nodes, "node"), count_text(run.phases.size(), "phase"),
                                 seconds_text(diagnosis.whole.run_s));
  text += efficiencies_text(diagnosis.whole, nodes > 1, run.knows_waiting);
  for (std::size_t i = 0; i < std::min(kMaxNamed, diagnosis.named.size()); ++i) {
    const auto& [name, e] = diagnosis.named[i];
    text += wrapped("  ", fmt::format("{}: {} = {} load balance x {} communication, {}",
                                      printable(name), percent(e.parallel), percent(e.load_balance),
                                      percent(e.communication), seconds_text(e.run_s)));
  }
  if (!run.knows_waiting)
    text += wrapped("",
                    "Waiting cannot be distinguished from transfer: the profile lacks some waits "
                    "(docs/profile_how.md, section Waiting, tells why).");
  text += '\n' + findings_text(run, diagnosis);
  return text + advice_text(diagnosis, file);
}

std::string scaling_text(const MeasuredRun& before, const MeasuredRun& after) {
  const Efficiencies a = efficiencies(before), b = efficiencies(after);
  const double work = useful_sum_s(before) / std::max(1e-12, useful_sum_s(after));
  std::string text = fmt::format("  {:<27}{:>12}{:>12}{:>10}\n", "", "first", "second", "ratio");
  const auto line = [&](int depth, std::string_view name, double x, double y) {
    text += fmt::format("  {:{}}{:<{}}{:>10.1f} %{:>10.1f} %{:>10.3f}\n", "", 2 * depth, name,
                        27 - 2 * depth, 100 * x, 100 * y, x > 0 ? y / x : 0);
  };
  text += fmt::format("  {:<27}{:>12}{:>12}{:>10.3f}\n", "Ranks", before.num_ranks(),
                      after.num_ranks(), 1.0 * after.num_ranks() / before.num_ranks());
  text += fmt::format("  {:<27}{:>12}{:>12}{:>10.3f}\n", "Run time", seconds_text(a.run_s),
                      seconds_text(b.run_s), b.run_s / a.run_s);
  line(0, "Global efficiency", a.parallel, b.parallel * work);
  line(1, "Parallel efficiency", a.parallel, b.parallel);
  line(2, "Load balance", a.load_balance, b.load_balance);
  line(3, "inside nodes", a.inside_nodes, b.inside_nodes);
  line(3, "between nodes", a.between_nodes, b.between_nodes);
  line(2, "Communication efficiency", a.communication, b.communication);
  const bool knows_waiting = before.knows_waiting && after.knows_waiting;
  if (knows_waiting) {
    line(3, "Serialisation", a.serialisation, b.serialisation);
    line(3, "Transfer", a.transfer, b.transfer);
  }
  line(1, "Computation scaling", 1, work);
  if (!knows_waiting)
    text += wrapped("", fmt::format("Waiting cannot be distinguished from transfer: {} some waits.",
                                    before.knows_waiting  ? "the second profile lacks"
                                    : after.knows_waiting ? "the first profile lacks"
                                                          : "both profiles lack"));
  text += '\n';
  text +=
      wrapped("", fmt::format("The second run computes {} in all, the first {}: {}.",
                              seconds_text(useful_sum_s(after)), seconds_text(useful_sum_s(before)),
                              work < 0.98   ? "it repeats work, or computes slower"
                              : work > 1.02 ? "it has less work, or computes faster"
                                            : "the same work"));
  text += wrapped("", fmt::format("It is {:.2f} times as fast on {:.2f} times the ranks.",
                                  a.run_s / b.run_s, 1.0 * after.num_ranks() / before.num_ranks()));
  return text;
}

std::string diagnosis_json(const MeasuredRun& run, const Diagnosis& diagnosis) {
  nlohmann::ordered_json json;
  json["ranks"] = run.num_ranks();
  json["phases"] = run.phases.size();
  json["knows_waiting"] = run.knows_waiting;
  json["efficiencies"] = json_of(diagnosis.whole, run.knows_waiting);
  for (const auto& [name, e] : diagnosis.named) json["named"][name] = json_of(e, run.knows_waiting);
  const Imbalance& i = diagnosis.imbalance;
  json["imbalance"] = {{"kind", kKinds[index_of(i.kind)]}, {"total_s", i.total_s},
                       {"persistent_s", i.persistent_s},   {"named_s", i.named_s},
                       {"periodic_s", i.periodic_s},       {"every", i.every}};
  json["late"] = nlohmann::ordered_json::array();
  for (const LateRank& late : diagnosis.late)
    json["late"].push_back(
        {{"rank", late.rank}, {"waiting_ranks", late.num_waiting}, {"waited_s", late.seconds}});
  if (const ReorderedTopologies& t = run.topologies; t.calls > 0)
    json["topologies"] = {{"created", t.calls},
                          {"reordered", t.reordered},
                          {"weight_hops_before", t.before},
                          {"weight_hops_after", t.after},
                          {"deciding_s", t.deciding_s}};
  if (run.messages_outside > 0) json["messages_outside"] = run.messages_outside;
  if (!run.others_s.empty() && run.knows_others) json["others_s"] = run.others_s;  // per node
  for (const NodeQuota& quota : run.quotas)
    if (diagnosis.quota_cpus > 0)
      json["quotas"].push_back({{"cpus", quota.cpus}, {"stopped_s", quota.stopped_s}});
  if (diagnosis.teams.ranks > 0)
    json["threads"] = {{"even", diagnosis.teams.even},
                       {"even_in_worst_rank", diagnosis.teams.worst},
                       {"worst_rank", diagnosis.teams.rank}};
  for (const ThreadCause& found : diagnosis.threads)
    json["thread_causes"].push_back({{"node", found.node},
                                     {"cause", name_of(found.cause.kind)},
                                     {"gain", found.cause.gain},
                                     {"text", found.cause.text}});
  for (const Advice& advice : diagnosis.advice)
    json["advice"].push_back({{"remedy", kRemedies[index_of(advice.remedy)]},
                              {"saved_s", advice.saved.value},
                              {"half_width_s", advice.saved.half_width},
                              {"is_bound", advice.is_bound}});
  return document_text(json);
}

}  // namespace poise::apps
