// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/to_measured.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "runtimes/profile/to_trace.h"

#include "poise/base/enum_index.h"

namespace poise::profile {

namespace {

double seconds(std::int64_t ns) { return 1e-9 * std::max<std::int64_t>(0, ns); }

/// The sum of a rank's samples in all phases with one label. Some of these phases may have no
/// samples: `calls_elsewhere` is the number of the rank's calls in them.
struct Alike {
  Waiting samples;
  std::uint64_t calls_elsewhere = 0;
};

/// Adds up the samples of a rank when they are needed.
class SamplesByLabel {
 public:
  explicit SamplesByLabel(const RankProfile& rank) : rank_(rank) {}

  const Alike& of(std::uint64_t label, int waits_for) {
    const auto [entry, is_new] = known_.try_emplace({label, waits_for});
    if (is_new) entry->second = sum_of(label, waits_for);
    return entry->second;
  }

 private:
  Alike sum_of(std::uint64_t label, int waits_for) const {
    Alike alike;
    Waiting& sum = alike.samples;
    std::map<std::uint32_t, std::int64_t> for_whom;
    for (const Phase& phase : rank_.phases) {
      if (phase.label != label) continue;
      const Waiting& own = phase.waiting[waits_for];
      if (own.samples == 0) alike.calls_elsewhere += phase.totals.may_wait_calls[waits_for];
      sum.samples += own.samples;
      sum.sampled_ns += own.sampled_ns;
      sum.waited_ns += own.waited_ns;
      sum.wait_squares += own.wait_squares;
      sum.time_squares += own.time_squares;
      sum.products += own.products;
      for (const auto& [rank, ns] : own.for_whom) for_whom[rank] += ns;
    }
    sum.for_whom.assign(for_whom.begin(), for_whom.end());
    return alike;
  }

  const RankProfile& rank_;
  std::map<std::pair<std::uint64_t, int>, Alike> known_;
};

/// If no call of the phase was sampled, the times are estimated from `alike`: in a long run, the
/// messages of whole phases may be left out of the sample.
RankTimes times_of(const Phase& phase, SamplesByLabel& alike) {
  RankTimes times{.wall_s = seconds(phase.end_ns - phase.begin_ns),
                  .useful_s = seconds(phase.totals.useful_ns),
                  .load_s = load_s(phase),
                  .asleep_s = std::max(0.0, load_s(phase) - seconds(phase.useful_cpu_ns)),
                  .queued_s = seconds(phase.queued_ns),
                  .io_s = seconds(phase.totals.mpi_ns[index_of(Kind::io)])};
  double squares = 0;
  for (int w = 0; w < kNumWaits; ++w) {
    const std::uint64_t calls = phase.totals.may_wait_calls[w];
    const std::int64_t calls_ns = phase.totals.may_wait_ns[w];
    const bool is_sampled = phase.waiting[w].samples > 0 || calls == 0;
    const Waiting& samples = is_sampled ? phase.waiting[w] : alike.of(phase.label, w).samples;
    const Estimate estimate = is_sampled ? estimated(samples, calls, calls_ns)
                                         : extrapolated(samples, calls, calls_ns,
                                                        alike.of(phase.label, w).calls_elsewhere);
    times.waited.value += estimate.seconds;
    squares += estimate.half_width_s * estimate.half_width_s;
    if (samples.waited_ns <= 0) continue;
    const double all = estimate.seconds / seconds(samples.waited_ns);
    for (const auto& [rank, ns] : samples.for_whom)
      times.waited_for.emplace_back(rank, all * seconds(ns));
  }
  times.waited.half_width = std::sqrt(squares);
  return times;
}

std::string name_of(const RankProfile& rank, std::uint64_t label) {
  if (label == 0) return "";
  const auto named = rank.names.find(label);
  return named == rank.names.end() ? std::to_string(label) : named->second;
}

/// Adds the reorderings of one rank. Every rank has counted the same collective calls, so the
/// counts are combined by their maximum. Only the deciding rank has stored the distances, so the
/// distances are summed.
void add(const Reorderings& own, ReorderedTopologies& all) {
  all.calls = std::max(all.calls, own.calls);
  all.reordered = std::max(all.reordered, own.reordered);
  all.before += own.before;
  all.after += own.after;
  all.deciding_s = std::max(all.deciding_s, seconds(own.deciding_ns));
}

/// A thread counts as computing if it has a large part of the CPU time. Other threads, such as
/// those that help MPI, have little.
std::vector<ThreadUse> computing(std::vector<ThreadUse> threads) {
  // A thread counts as computing if it has at least this fraction of the busiest thread's CPU time.
  constexpr double kComputes = 0.2;
  std::int64_t most_ns = 0;
  for (const ThreadUse& use : threads) most_ns = std::max(most_ns, use.run_ns);
  std::erase_if(threads, [&](const ThreadUse& use) { return use.run_ns < kComputes * most_ns; });
  return threads;
}

/// The threads of a rank without the CPU time that the initial thread used inside MPI, where it
/// spins while it waits for other ranks.
std::vector<ThreadUse> outside_mpi(const RankProfile& rank) {
  std::vector<ThreadUse> threads = rank.team.threads;
  if (threads.empty()) return threads;
  std::int64_t useful_cpu_ns = 0;
  for (const Phase& phase : rank.phases) useful_cpu_ns += phase.useful_cpu_ns;
  threads.front().run_ns = std::min(threads.front().run_ns, useful_cpu_ns);
  return threads;
}

/// For each computing thread, the seconds that it computed, as well as they are known.
std::vector<double> work_s(const RankProfile& rank) {
  std::vector<double> work_s;
  if (rank.omp_work_ns.size() > 1)
    for (const std::int64_t ns : rank.omp_work_ns) work_s.push_back(seconds(ns));
  else
    for (const ThreadUse& use : computing(outside_mpi(rank))) work_s.push_back(seconds(use.run_ns));
  return work_s;
}

/// True if the kernel may move each of the rank's computing threads to another cpu.
bool is_free(const TeamUse& team, const std::vector<ThreadUse>& threads) {
  return team.cpus.size() > 1 && !threads.empty() &&
         std::all_of(threads.begin(), threads.end(),
                     [](const ThreadUse& use) { return use.only_cpu < 0; });
}

/// Adds up facts about the computing threads of all ranks of a node.
class NodeThreads {
 public:
  void add(const TeamUse& team, const std::vector<ThreadUse>& threads) {
    has_team_ = has_team_ || threads.size() > 1;
    ++ranks_;
    facts_.watched_s = std::max(facts_.watched_s, seconds(team.watched_ns));
    facts_.threads += static_cast<std::uint32_t>(threads.size());
    for (const std::int32_t cpu : team.cpus) bound_on_[cpu];
    for (const ThreadUse& use : threads) {
      if (use.only_cpu >= 0) ++bound_on_[use.only_cpu];
      facts_.turns += use.turns;
      facts_.asleep_s =
          std::max(facts_.asleep_s, seconds(team.watched_ns - use.run_ns - use.queued_ns));
    }
  }

  JuggleFacts facts() const {
    if (!has_team_) return {};
    JuggleFacts facts = facts_;
    facts.threads_s = facts.threads * facts.watched_s;  // when they began to compute is unknown
    for (const auto& [cpu, threads] : bound_on_) {
      facts.cpus.push_back(cpu);
      facts.bound_on.push_back(threads);
    }
    facts.waits_actively = ranks_ > 1;  // MPI libraries poll
    return facts;
  }

 private:
  JuggleFacts facts_;
  std::map<std::int32_t, std::uint32_t> bound_on_;  // per cpu
  std::uint32_t ranks_ = 0;
  bool has_team_ = false;
};

void add_threads(const std::vector<RankProfile>& ranks, MeasuredRun& run) {
  std::vector<NodeThreads> nodes;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const std::vector<ThreadUse> threads = computing(ranks[r].team.threads);
    nodes.resize(std::max<std::size_t>(nodes.size(), run.node_of_rank[r] + 1));
    if (!threads.empty()) nodes[run.node_of_rank[r]].add(ranks[r].team, threads);
    run.is_free.push_back(is_free(ranks[r].team, threads));
    if (threads.size() > 1 || ranks[r].omp_work_ns.size() > 1)
      run.teams.push_back({.rank = ranks[r].rank, .work_s = work_s(ranks[r])});
  }
  for (const NodeThreads& node : nodes) run.threads_of_node.push_back(node.facts());
}

/// The CPU time of other programs on the cores of a node. Ranks may run on the same cores or on
/// different ones; if the cores of two ranks overlap only partly, the time is unknown.
class NodeCpus {
 public:
  void add(const std::vector<std::int32_t>& cpus, const CpuUse& use) {
    is_known_ = is_known_ && use.all_ns >= 0;
    own_ns_ += use.own_ns;
    std::int64_t& all_ns = all_ns_[cpus];
    all_ns = std::max(all_ns, use.all_ns);
  }

  /// Returns the CPU seconds of other programs, or nothing if the time is unknown.
  std::optional<double> others_s() const {
    std::set<std::int32_t> seen;
    std::int64_t all_ns = 0;
    for (const auto& [cpus, ns] : all_ns_) {
      for (const std::int32_t cpu : cpus)
        if (!seen.insert(cpu).second) return std::nullopt;
      all_ns += ns;
    }
    return is_known_ ? std::optional(seconds(all_ns - own_ns_)) : std::nullopt;
  }

 private:
  // For each set of cpus, the CPU time of all programs on these cpus.
  std::map<std::vector<std::int32_t>, std::int64_t> all_ns_;
  std::int64_t own_ns_ = 0;
  bool is_known_ = true;
};

/// For each node, adds its CPU quota and the time for which the quota stopped processes. All ranks
/// of a node usually belong to one cgroup, so they report the same quota and nearly the same time.
/// The times differ slightly because ranks begin and end at different times; the longest time
/// counts.
void add_quotas(const std::vector<RankProfile>& ranks, MeasuredRun& run) {
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const std::uint32_t node = run.node_of_rank[r];
    run.quotas.resize(std::max<std::size_t>(run.quotas.size(), node + 1));
    NodeQuota& quota = run.quotas[node];
    const CpuUse& use = ranks[r].cpus;
    if (use.quota_cpus > 0 && (quota.cpus == 0 || use.quota_cpus < quota.cpus))
      quota.cpus = use.quota_cpus;
    quota.stopped_s = std::max(quota.stopped_s, seconds(use.stopped_ns));
  }
  for (std::size_t node = 0; node < run.quotas.size(); ++node)
    if (run.quotas[node].cpus > 0) run.threads_of_node[node].quota_cpus = run.quotas[node].cpus;
}

void add_others(const std::vector<RankProfile>& ranks, MeasuredRun& run) {
  std::vector<NodeCpus> nodes;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    nodes.resize(std::max<std::size_t>(nodes.size(), run.node_of_rank[r] + 1));
    nodes[run.node_of_rank[r]].add(ranks[r].team.cpus, ranks[r].cpus);
  }
  for (const NodeCpus& node : nodes) {
    const std::optional<double> others_s = node.others_s();
    run.knows_others = run.knows_others && others_s;
    run.others_s.push_back(others_s.value_or(0));
  }
}

}  // namespace

MeasuredRun measured(const std::vector<RankProfile>& ranks) {
  MeasuredRun run;
  run.node_of_rank = hosts_of(ranks).of_rank;
  run.are_slices = ranks[0].cuts == Cuts::slices;
  for (const RankProfile& rank : ranks) {
    add(rank.reorderings, run.topologies);
    // A rank measures its threads and other programs, and compares its records with those of other
    // ranks, in MPI_Finalize.
    run.knows_threads = run.knows_threads && rank.is_complete;
    run.knows_waiting =
        run.knows_waiting && rank.is_complete && rank.knows_waiting && rank.knows_message_waits;
  }
  std::vector<SamplesByLabel> samples(ranks.begin(), ranks.end());
  for (std::size_t p = 0; p < ranks[0].phases.size(); ++p) {
    MeasuredPhase& phase = run.phases.emplace_back();
    phase.name = name_of(ranks[0], ranks[0].phases[p].label);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const Phase& own = ranks[r].phases[p];
      phase.ranks.push_back(times_of(own, samples[r]));
      run.messages_outside += own.totals.outside_messages;
    }
  }
  add_threads(ranks, run);
  add_others(ranks, run);
  add_quotas(ranks, run);
  return run;
}

}  // namespace poise::profile
