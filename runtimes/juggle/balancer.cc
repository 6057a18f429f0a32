// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/balancer.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <stdexcept>
#include <sys/resource.h>
#include <utility>

#include "runtimes/juggle/threads.h"
#include "runtimes/juggle/tuning.h"

#include "poise/base/clock.h"

namespace poise::juggle {

namespace {

std::unique_ptr<CpuProbe> make_probe() { return std::make_unique<SpeedProbe>(); }

}  // namespace

Balancer::Balancer(const BalancerOptions& options, AffinityStore& store, Kernel& kernel)
    : options_(options),
      kernel_(kernel),
      watcher_(kernel),
      affinities_(
          kernel, store, options.cpus, [this](const std::string& text) { note_once(text); },
          options.wants_stays),
      speeds_(affinities_.cpus(), speeds_of, make_probe),
      team_(options.settings, places()),
      random_(options.seed) {
  places_ = places();
  respect_quota();
  choose_progress();
  tally_.tuning = options_.settings.tuning;
}

std::vector<JugglePlace> Balancer::places() const {
  const Cpus& cpus = affinities_.cpus();
  std::vector<DomainId> domains(cpus.size(), 0);
  if (options_.stays_in_domain) domains = domains_of(cpus);
  std::vector<JugglePlace> places;
  for (std::size_t i = 0; i < cpus.size(); ++i) places.push_back({domains[i], speeds_.all()[i]});
  return places;
}

/// Chooses the measure of progress. If all cpus are equal, `automatic` chooses cpu time, because
/// counting instructions would then be no better, and reading their counter interrupts the thread's
/// cpu.
void Balancer::choose_progress() {
  if (options_.progress == ProgressSource::time ||
      (options_.progress == ProgressSource::automatic && speeds_.are_equal()))
    return;
  counts_instructions_ = static_cast<bool>(open_counter(0, Counted::instructions));
  if (!counts_instructions_ && options_.progress == ProgressSource::instructions)
    note_once(
        fmt::format("instructions cannot be counted ({}), so progress is measured as cpu time",
                    std::strerror(errno)));
}

/// The processes of the threads that take part in balancing.
std::vector<pid_t> Balancer::computing_processes() const {
  std::set<pid_t> processes;
  for (const JuggleMember& member : team_.members()) {
    const auto thread = kernel_.threads().find(member.last.key);
    if (member.takes_part && thread != kernel_.threads().end())
      processes.insert(thread->second.process);
  }
  return {processes.begin(), processes.end()};
}

/// True if the quota should be read again, because it may have changed, or because threads of
/// another cgroup may compute now.
bool Balancer::is_time_for_quota(double now_s) const {
  const std::uint32_t team_size = team_.num_taking_part();
  return team_size > 0 &&
         now_s - asked_quota_s_ >=
             (team_size == quota_team_size_ ? kTuning.quota_s : kTuning.scan_interval_s(now_s));
}

/// Limits the number of cpus to the quota of cpu time, rounded up. When the quota is used up, the
/// kernel stops the program's threads on all cpus. Threads on fewer cpus use up the quota later:
/// they do the same work, but wait less at barriers for stopped threads. Threads that spin while
/// they wait would take these cpus from each other. So only the policy `auto`, which recognizes
/// spinning threads, limits the number of cpus.
void Balancer::respect_quota() {
  asked_quota_s_ = kernel_.now_s();
  quota_team_size_ = team_.num_taking_part();
  quota_cpus_ = kernel_.quota_cpus(computing_processes());
  const double whole = std::ceil(quota_cpus_.value_or(kMaxCpus));
  const auto most = static_cast<std::size_t>(std::clamp(whole, 1.0, double{kMaxCpus}));
  const std::size_t num_cpus = affinities_.num_unlimited();
  if (most < num_cpus)
    note_once(fmt::format("a quota (cpu.max, cpu.cfs_quota_us) pays for {:.3g} cpu{} of {}: {} up",
                          *quota_cpus_, *quota_cpus_ == 1 ? "" : "s", num_cpus,
                          most == 1 ? "1 thread uses it" : fmt::format("{} threads use it", most)));
  if (options_.settings.policy == JugglePolicy::automatic)
    affinities_.set_limit(most, options_.first_cpu);
}

JuggleFacts Balancer::facts() const {
  JuggleFacts facts = team_.facts();
  facts.cpus = affinities_.cpus();
  facts.allowed_cpus = affinities_.num_unlimited();
  facts.quota_cpus = quota_cpus_;
  facts.waits_actively = waits_actively_;
  return facts;
}

/// If there are more threads than cpus, finds out whether waiting threads spin or sleep. With fewer
/// threads, spinning does no harm.
void Balancer::ask_how_threads_wait() {
  if (team_.num_taking_part() <= affinities_.cpus().size()) return;
  for (const JuggleMember& member : team_.members()) {
    const auto thread = kernel_.threads().find(member.last.key);
    if (!member.takes_part || thread == kernel_.threads().end()) continue;
    if (asked_.insert(thread->second.process).second)
      waits_actively_ |= kernel_.waits_actively(thread->second.process);
  }
}

void Balancer::note_once(const std::string& text) {
  if (options_.on_note && notes_.insert(text).second) options_.on_note(text);
}

/// Takes over the result of the last probe of a cpu's speed, and starts the next probe if one is
/// due. Returns true if a probe starts.
bool Balancer::learn_speeds() {
  if (speeds_.learn()) {
    team_.set_speeds(speeds_.all());
    if (!counts_instructions_ && !speeds_.are_equal()) choose_progress();
    if (counts_instructions_ && counters_.empty())
      for (const auto& [key, kept] : affinities_.threads())
        counters_[key] = open_counter(kept.id, Counted::instructions);
  }
  Cpus busy;
  for (PlaceId p = 0; p < affinities_.cpus().size(); ++p)
    if (team_.wanted(p) > options_.settings.tuning.ready_share)
      busy.push_back(affinities_.cpus()[p]);
  const bool begins = speeds_.begin_probe(tally_.rounds, busy);
  tally_.visits += begins;
  return begins;
}

/// A process that a pinned thread has just started is pinned to the same cpu. It is looked for at
/// every balancing point, because many programs count their cpus soon after they start.
bool Balancer::is_time_to_scan() {
  return watcher_.is_time_to_scan() ||
         (team_.is_balancing() && watcher_.may_have_births() && affinities_.have_new_children());
}

void Balancer::scan() {
  const Changes changes = watcher_.scan();
  // New threads are added before dead ones are removed, because a new thread may have inherited the
  // affinity of a dead one.
  for (const std::uint64_t key : changes.born) {
    affinities_.add(key);
    if (counts_instructions_)
      counters_[key] = open_counter(kernel_.threads().at(key).id, Counted::instructions);
  }
  refresh_own();
  if (!changes.died.empty()) leave_alone(affinities_.respect_choices_of_first_threads());
  for (const std::uint64_t key : changes.died) remove(key);
  affinities_.end_scan();
  if (const std::string shortage = kernel_.shortage(); !shortage.empty()) note_once(shortage);
}

void Balancer::refresh_own() {
  asked_own_s_ = kernel_.now_s();
  affinities_.refresh_own();
}

/// Checks in every own_choice_rounds-th round whether the program has changed the affinities of
/// pinned threads. A check takes a third as long as reading the thread's run time. Checking all
/// threads in one round costs less in total than checking a few in every round. Every thread is
/// also checked before it is moved.
void Balancer::respect_own_choices() {
  if (tally_.rounds % kTuning.own_choice_rounds == 0)
    leave_alone(affinities_.respect_own_choices());
}

void Balancer::leave_alone(const std::vector<std::uint64_t>& keys) {
  for (const std::uint64_t key : keys) team_.leave_alone(key);
}

void Balancer::read() {
  readings_.clear();
  auto kept = affinities_.threads().begin();
  for (const auto& [key, thread] : kernel_.threads()) {
    while (kept != affinities_.threads().end() && kept->first < key) ++kept;
    if (kept == affinities_.threads().end()) return;
    if (thread.rank_in_process == options_.skip_thread || kept->first != key) continue;
    const auto time = kernel_.read_time(thread);
    if (!time) {
      watcher_.saw_death();
      affinities_.lose(key);
      continue;
    }
    if (!affinities_.is_itself(key)) {  // another thread may have its id
      affinities_.restore(key);
      continue;
    }
    ThreadReading reading{
        .key = key, .run_s = time->run_s, .wait_s = time->wait_s, .turns = time->turns};
    if (const auto counter = counters_.find(key); counter != counters_.end())
      reading.work = read_counter(counter->second);
    reading.waits = kernel_.wait_report(thread.id);
    add_bounds(kept->second.own, reading);
    readings_.push_back(reading);
  }
}

/// `own` is the affinity that the program set. Stores in `reading` whether `own` excludes some of
/// the balanced cpus and, if `own` allows only one of these cpus, which one.
void Balancer::add_bounds(const CpuSet& own, ThreadReading& reading) const {
  const Cpus& cpus = affinities_.cpus();
  PlaceId place = 0;
  std::size_t num_own = 0;
  for (PlaceId p = 0; p < cpus.size(); ++p) {
    if (!own.has(cpus[p])) continue;
    ++num_own;
    place = p;
  }
  reading.is_bound = num_own < cpus.size();
  if (num_own == 1 && reading.is_bound) reading.own_place = place;
  reading.is_beyond = affinities_.is_limited();
}

/// Returns the cpus in the memory domain of `place`. A thread that the balancer assigns to a whole
/// domain may use all of them.
Cpus Balancer::cpus_of_domain(PlaceId place) const {
  Cpus cpus;
  for (PlaceId p = 0; p < places_.size(); ++p)
    if (places_[p].domain == places_[place].domain) cpus.push_back(affinities_.cpus()[p]);
  return cpus;
}

void Balancer::carry_out(const JuggleOrder& order) {
  if (!order.place) {
    if (!affinities_.restore(order.key)) team_.leave_alone(order.key);
    return;
  }
  const auto result = order.is_wide ? affinities_.widen(order.key, cpus_of_domain(*order.place))
                                    : affinities_.pin(order.key, affinities_.cpus()[*order.place]);
  if (result == Affinities::PinResult::refused_for_good ||
      result == Affinities::PinResult::left_to_program)
    team_.leave_alone(order.key);
}

/// Reads only which threads report that they wait: reading the cpu times of all threads would take
/// longer than a typical wait.
void Balancer::react() {
  ++tally_.reactions;
  waits_.clear();
  for (const JuggleMember& member : team_.members()) {
    const auto thread = kernel_.threads().find(member.last.key);
    if (!member.takes_part || thread == kernel_.threads().end()) continue;
    if (const auto report = kernel_.wait_report(thread->second.id))
      waits_.push_back({member.last.key, *report});
  }
  for (const JuggleOrder& order : team_.react_to(waits_)) carry_out(order);
}

/// Tells the user once if a process does not report when its threads wait. For such a process, the
/// balancer has to look for waits at intervals.
void Balancer::note_silence(double real_s) {
  const double before_s = reacting_s_;
  if (team_.is_reacting()) reacting_s_ += real_s;
  if (before_s >= kTuning.check_s || reacting_s_ < kTuning.check_s) return;
  for (const JuggleMember& member : team_.members()) {
    const auto thread = kernel_.threads().find(member.last.key);
    if (!member.takes_part || thread == kernel_.threads().end()) continue;
    if (kernel_.reports_waits(thread->second.process)) continue;
    note_once(
        fmt::format("process {} does not report when its threads wait (it is linked statically, "
                    "ran before, or changed its environment, user or container), so the "
                    "balancer looks for waits every {:.3g} ms",
                    thread->second.process, 1e3 * team_.next_s()));
    return;
  }
}

void Balancer::remove(std::uint64_t key) {
  if (const auto ended = affinities_.threads().find(key); ended != affinities_.threads().end())
    kernel_.forget_waits(ended->second.id);
  // With --live every round copies past_. To keep past_ small, threads that have ended move to
  // ended_.
  if (auto past = past_.extract(key)) ended_.emplace_back(past.mapped()).takes_part = false;
  counters_.erase(key);
  affinities_.remove(key);
}

void Balancer::start_anew() {
  leave_alone(affinities_.restore_all());
  team_.set_places(places_);
}

void Balancer::round() {
  const double cpu_s = thread_cpu_now_s();
  const double now_s = kernel_.now_s();
  const double real_s = now_s - std::exchange(round_s_, now_s);
  if (affinities_.refresh_cpus()) {
    // Threads that are left alone from now on must not stay pinned.
    leave_alone(affinities_.restore_all());
    speeds_.set_cpus(affinities_.cpus());
    places_ = places();
    team_.set_places(places_);
  }
  const bool scans = is_time_to_scan();
  if (scans) scan();
  if (!scans && (now_s < kTuning.check_s || now_s - asked_own_s_ >= kTuning.check_s)) refresh_own();
  if (is_time_for_quota(now_s)) respect_quota();
  respect_own_choices();
  read();
  const std::vector<JuggleOrder> orders = team_.balance(readings_, kernel_.now_s());
  for (const JuggleOrder& order : orders) carry_out(order);
  const bool visits = learn_speeds();
  ask_how_threads_wait();
  note_silence(real_s);
  update_thread_tallies();
  const bool is_still = !scans && orders.empty() && !visits;
  count_round(thread_cpu_now_s() - cpu_s, real_s, is_still);
  if (!options_.on_round) return;
  copy_counts();
  tally_.threads.clear();
  for (const auto& [key, thread] : past_) tally_.threads.push_back(thread);
  options_.on_round(tally_);
}

void Balancer::update_thread_tallies() {
  const double average_s = team_.average_progress_s();
  for (const JuggleMember& member : team_.members()) {
    const auto found = kernel_.threads().find(member.last.key);
    if (const auto past = past_.find(member.last.key); past != past_.end())
      past->second.takes_part = member.takes_part;
    if (!member.takes_part || found == kernel_.threads().end()) continue;
    ThreadTally& tally = past_[member.last.key];
    if (!tally.took_part) tally.part_since_s = round_s_;
    tally = {.key = member.last.key,
             .process = found->second.process,
             .id = found->second.id,
             .took_part = true,
             .takes_part = true,
             .cpu = member.place ? static_cast<int>(affinities_.cpus()[*member.place]) : -1,
             .part_since_s = tally.part_since_s,
             .seen_s = round_s_,
             .run_s = member.last.run_s - member.run_apart_s,
             .lag_s = average_s - member.progress_s,
             .migrations = member.migrations};
  }
}

void Balancer::count_round(double cpu_s, double real_s, bool is_still) {
  tally_.least_round_s = tally_.rounds == 0 ? cpu_s : std::min(tally_.least_round_s, cpu_s);
  tally_.rounds_cpu_s += cpu_s;
  ++tally_.rounds;
  if (is_still) {
    tally_.still_rounds_cpu_s += cpu_s;
    ++tally_.still_rounds;
  }
  tally_.elapsed_s = kernel_.now_s();
  if (tally_.is_balancing) tally_.balancing_s += real_s;
  tally_.is_balancing = team_.is_balancing();
  tally_.action = team_.action();
  tally_.period_s = team_.period_s();
  count_attainable_time(real_s);
}

/// Adds the cpu time that the threads could have used since the previous round. Computes it from
/// the number of threads balanced in that round, the number of cpus and the quota. If threads stay
/// in their domains, every thread's fair share is computed for the domain with the most threads per
/// cpu.
void Balancer::count_attainable_time(double real_s) {
  if (team_size_ > 0) {
    const double threads = team_size_, cpus = affinities_.cpus().size();
    const double paid_cpus = quota_cpus_.value_or(kMaxCpus);
    tally_.part_s += real_s;
    tally_.threads_s += threads * real_s;
    std::vector<DomainId> domain_of;
    for (const JugglePlace& place : places_) domain_of.push_back(place.domain);
    const double fair_cpus = threads / std::max(1.0, threads_per_place(team_size_, domain_of));
    tally_.fair_s += std::min(fair_cpus, paid_cpus) * real_s;
    tally_.static_s += std::min(threads / std::ceil(threads / cpus), paid_cpus) * real_s;
  }
  team_size_ = team_.num_taking_part();
  tally_.most_threads = std::max(tally_.most_threads, team_size_);
}

void Balancer::copy_counts() {
  tally_.migrations = affinities_.migrations;
  tally_.refusals = affinities_.refusals;
  tally_.own_choices = affinities_.own_choices;
  tally_.facts = facts();
}

double Balancer::next_s() {
  return team_.next_s() * random_.uniform(1 - options_.jitter, 1 + options_.jitter);
}

Tally Balancer::finish() {
  // This scan finds threads that were created since the last scan and inherited the affinity of a
  // pinned thread. It gives them the affinity that the program chose.
  scan();
  affinities_.restore_all();
  scan();
  copy_counts();
  tally_.elapsed_s = kernel_.now_s();
  tally_.own_cpu_s = process_cpu_now_s() - cpu_before_s_;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  tally_.wake_ups = usage.ru_nvcsw;
  tally_.cpus = affinities_.cpus();
  tally_.speeds = speeds_.all();
  tally_.stays = std::move(affinities_.stays);
  tally_.threads = std::move(ended_);
  for (const auto& [key, thread] : past_) tally_.threads.push_back(thread);
  std::sort(tally_.threads.begin(), tally_.threads.end(),
            [](const ThreadTally& a, const ThreadTally& b) { return a.key < b.key; });
  for (const ThreadTally& thread : tally_.threads) tally_.program_run_s += thread.run_s;
  return std::move(tally_);
}

}  // namespace poise::juggle
