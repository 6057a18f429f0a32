#include "runtimes/juggle/balancer.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <map>
#include <poll.h>
#include <set>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "runtimes/juggle/guard.h"
#include "runtimes/juggle/learning.h"
#include "runtimes/juggle/quota.h"
#include "runtimes/juggle/threads.h"

#include "poise/base/error.h"
#include "poise/base/random.h"

namespace poise::juggle {

namespace {

// Walks through /proc for new processes, and counts of the threads of known ones. A late start
// counts by its share of the time so far.
constexpr double kLookShare = 0.1, kLookLeastS = 0.05, kLookMostS = 1;
constexpr double kCountShare = 0.01, kCountMostS = 0.5;
constexpr std::size_t kFewProcesses = 4;
constexpr double kAskOwnEveryS = 1, kAskQuotaEveryS = 60, kReapEveryS = 1;
constexpr double kStartS = 1;                // the program binds its threads in its first moments
constexpr std::uint64_t kChoiceRounds = 10;  // all threads are asked for their affinity in the last
// Between visits to cpus whose speeds are learned: at first, once they are known, and where they
// are equal, as they mostly are, so that the balancer has its wake-ups for itself.
constexpr std::uint64_t kFirstVisitRounds = 2, kVisitRounds = 20, kEqualVisitRounds = 200;
constexpr double kBusyCpu = 0.5;  // of the time
constexpr std::size_t kMaxStays = 1'000'000;

[[noreturn]] void fail_at(const char* step) {
  throw std::runtime_error(fmt::format("cannot {}: {}", step, std::strerror(errno)));
}

double clock_s(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// What the balancer knows of a thread beside its times.
struct Kept {
  pid_t process = 0;
  CpuSet own = {};                    // its affinity, as the program wants it
  std::optional<CpuId> cpu = {};      // where the balancer keeps it
  std::optional<CpuId> before = {};   // where it did before: children may still have inherited that
  double since_s = 0;                 // on cpu
  bool is_lost = false;               // another thread has taken its number, or may have
  Descriptor counter = Descriptor();  // of its instructions, when these are counted
};

class Balancer {
 public:
  Balancer(const Options& options, Guard& guard, const Program& program);
  void round();
  double next_s();
  void count_early_wake_up() { ++tally_.early_wake_ups; }
  void replace_guard();
  Tally finish();

 private:
  void warn_of_quota();
  void choose_progress();
  void refresh_cpus();
  void start_anew();
  bool learn_speeds();
  void set_speeds(std::vector<double> speeds);
  std::vector<JugglePlace> places() const;
  void look();
  bool is_time_to_look();
  void meet(std::uint64_t key);
  CpuSet own_affinity_of(const FoundThread& thread, const CpuSet& seen) const;
  void refresh_own_affinities();
  const Kept* former_self(const FoundThread& first, const CpuSet& seen) const;
  void respect_own_choice(std::uint64_t key, Kept& kept);
  void respect_own_choices();
  void ask_first_threads();
  void read();
  void add_bounds(const CpuSet& own, ThreadReading& reading) const;
  void carry_out(const JuggleOrder& order);
  void release(std::uint64_t key);
  void forget(std::uint64_t key);
  void end_stay(std::uint64_t key, Kept& kept);
  void count_round(double cpu_s, double real_s, bool is_still);
  void count_what_was_possible(double real_s);
  void tell_threads();
  void note_once(const std::string& text);
  double now_s() const { return clock_s(CLOCK_MONOTONIC) - start_s_; }

  const Options& options_;
  Guard& guard_;
  ThreadFinder finder_;
  LastBorn last_born_;
  std::optional<std::uint64_t> born_at_look_;
  bool saw_death_ = false;
  Random random_;
  double start_s_ = clock_s(CLOCK_MONOTONIC);
  double looked_s_ = -kLookMostS, counted_s_ = 0, asked_own_s_ = 0, asked_quota_s_ = 0,
         round_s_ = 0;
  std::uint32_t team_size_ = 0;  // in the last round
  CpuSet allowed_ = {};          // as last seen
  Cpus cpus_;
  std::vector<double> speeds_;  // of the cpus
  bool learns_;                 // these, for Linux does not tell that they differ
  LearnedSpeeds learned_;
  JuggleTeam team_;
  std::optional<Visitor> visitor_;
  bool counts_instructions_ = false;
  std::map<std::uint64_t, Kept> kept_;
  std::vector<ThreadReading> readings_;  // of this round
  std::map<std::uint64_t, ThreadTally> past_;
  std::set<std::string> notes_;
  Tally tally_;
};

/// Each thread takes one or two files.
void allow_many_files() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

Cpus usable_cpus(const Options& options) {
  const Cpus allowed = allowed_cpus();
  const Cpus cpus = options.cpus.empty() ? allowed : common_cpus(options.cpus, allowed);
  return cpus.empty() ? allowed : cpus;
}

bool are_equal(const std::vector<double>& speeds) {
  return std::all_of(speeds.begin(), speeds.end(), [](double speed) { return speed == 1; });
}

Balancer::Balancer(const Options& options, Guard& guard, const Program& program)
    : options_(options),
      guard_(guard),
      finder_(program.pid(), program.is_child(), guard.pid(), kMaxThreads),
      random_(options.seed),
      cpus_(usable_cpus(options)),
      speeds_(speeds_of(cpus_)),
      learns_(are_equal(speeds_)),
      team_(options.settings, places()) {
  if (const std::string missing = missing_in_proc(); !missing.empty())
    throw std::runtime_error(missing);
  allow_many_files();
  warn_of_quota();
  choose_progress();
}

std::vector<JugglePlace> Balancer::places() const {
  std::vector<DomainId> domains(cpus_.size(), 0);
  if (options_.stays_in_domain) domains = domains_of(cpus_);
  std::vector<JugglePlace> places;
  for (std::size_t i = 0; i < cpus_.size(); ++i) places.push_back({domains[i], speeds_[i]});
  return places;
}

/// Instructions tell more than cpu time only where cpus are unequal, and reading them interrupts
/// the thread's cpu.
void Balancer::choose_progress() {
  if (options_.progress == ProgressSource::time ||
      (options_.progress == ProgressSource::automatic && are_equal(speeds_)))
    return;
  counts_instructions_ = static_cast<bool>(open_counter(0, Counted::instructions));
  if (!counts_instructions_ && options_.progress == ProgressSource::instructions)
    note_once(fmt::format("instructions cannot be counted here ({}): progress is cpu time",
                          std::strerror(errno)));
}

/// A quota may be set while the program runs.
void Balancer::warn_of_quota() {
  asked_quota_s_ = now_s();
  const auto quota = quota_cpus();
  if (quota && *quota < static_cast<double>(cpus_.size()))
    note_once(
        fmt::format("a quota (cpu.max, cpu.cfs_quota_us) allows {:.3g} cpus of {}: threads will be "
                    "throttled wherever they run",
                    *quota, cpus_.size()));
}

void Balancer::note_once(const std::string& text) {
  if (options_.on_note && notes_.insert(text).second) options_.on_note(text);
}

/// Cpus come and go: with the cgroup's cpuset and with hotplug.
void Balancer::refresh_cpus() {
  CpuSet allowed;
  if (get_affinity(0, allowed) && allowed == allowed_) return;
  allowed_ = allowed;
  Cpus cpus = usable_cpus(options_);
  if (cpus == cpus_) return;
  cpus_ = std::move(cpus);
  for (auto& [key, kept] : kept_) {
    end_stay(key, kept);
    kept.before = kept.cpu = std::nullopt;
  }
  speeds_ = speeds_of(cpus_);
  learns_ = are_equal(speeds_);
  if (learns_) speeds_ = learned_.of(cpus_);
  team_.set_places(places());
}

/// This process was stopped, and the guard has given every thread its own affinity back meanwhile.
void Balancer::start_anew() {
  for (auto& [key, kept] : kept_) release(key);
  team_.set_places(places());
}

/// Visits the cpus where threads compute, for the clocks of others are low: every cpu a few times
/// soon, then one now and then. True when a visit begins.
bool Balancer::learn_speeds() {
  if (!learns_ || cpus_.size() < 2) return false;
  if (const auto visit = visitor_ ? visitor_->told() : std::nullopt) {
    learned_.note(visit->cpu, visit->rate);
    set_speeds(learned_.of(cpus_));
  }
  if (tally_.rounds % kFirstVisitRounds != 0) return false;
  Cpus busy;
  for (PlaceId p = 0; p < cpus_.size(); ++p)
    if (team_.wanted(p) > kBusyCpu) busy.push_back(cpus_[p]);
  if (busy.empty()) return false;
  const CpuId next = learned_.next(busy);
  const std::uint64_t later = are_equal(speeds_) ? kEqualVisitRounds : kVisitRounds;
  if (learned_.knows(next) && tally_.rounds % later != 0) return false;
  try {
    if (!visitor_) visitor_.emplace();
    const bool begins = visitor_->visit(next);
    tally_.visits += begins;
    return begins;
  } catch (const std::system_error&) {  // the user may have no more threads for now
    return false;
  }
}

void Balancer::set_speeds(std::vector<double> speeds) {
  speeds_ = std::move(speeds);
  team_.set_speeds(speeds_);
  if (counts_instructions_ || are_equal(speeds_)) return;
  choose_progress();
  if (!counts_instructions_) return;
  for (auto& [key, kept] : kept_)
    if (const auto thread = finder_.threads().find(key); thread != finder_.threads().end())
      kept.counter = open_counter(thread->second.id, Counted::instructions);
}

void Balancer::look() {
  saw_death_ = false;
  born_at_look_ = last_born_.id();  // asked first: what is born meanwhile is found next time
  const Changes changes = finder_.look();
  // What the living have inherited from the dead is known only before these are forgotten.
  for (const std::uint64_t key : changes.born) meet(key);
  refresh_own_affinities();
  if (!changes.died.empty()) ask_first_threads();
  for (const std::uint64_t key : changes.died) forget(key);
  if (finder_.is_full())
    note_once(fmt::format("more than {} threads: the rest is left alone", kMaxThreads));
  if (finder_.lacks_files())
    note_once(
        "too few files may be open here (ulimit -n; a thread takes two): threads without are "
        "not balanced");
  looked_s_ = now_s();
}

/// A few processes are asked for their numbers of threads; before many are, and before a walk, one
/// short read tells whether anything was born on this host.
bool Balancer::is_time_to_look() {
  const bool is_due =
      now_s() - looked_s_ >= std::clamp(kLookShare * now_s(), kLookLeastS, kLookMostS);
  if (saw_death_) return true;
  const bool has_few = finder_.num_processes() <= kFewProcesses;
  if (has_few && now_s() - counted_s_ >= std::min(kCountShare * now_s(), kCountMostS)) {
    counted_s_ = now_s();
    if (finder_.has_changed()) return true;
  }
  if (has_few && !is_due) return false;
  const auto born = last_born_.id();
  if (!born || born != born_at_look_) return is_due || finder_.has_changed();
  if (has_few) looked_s_ = now_s();  // there was nothing to see
  return false;
}

/// A thread born to one that the balancer keeps on a cpu has inherited that cpu: it gets what its
/// parent would have had.
CpuSet Balancer::own_affinity_of(const FoundThread& thread, const CpuSet& seen) const {
  const Cpus cpus = seen.cpus();
  if (cpus.size() != 1) return seen;
  const Kept* parent = nullptr;
  for (const auto& [key, kept] : kept_) {
    if (kept.cpu != cpus[0] && kept.before != cpus[0]) continue;
    const auto found = finder_.threads().find(key);
    const bool is_kin = found != finder_.threads().end() && found->second.process == thread.process;
    if (parent == nullptr || is_kin) parent = &kept;
    if (is_kin) break;
  }
  return parent == nullptr ? seen : parent->own;
}

void Balancer::meet(std::uint64_t key) {
  const FoundThread& thread = finder_.threads().at(key);
  CpuSet seen;
  if (!get_affinity(thread.id, seen)) return;
  const CpuSet own = own_affinity_of(thread, seen);
  if (own != seen) set_affinity(thread.id, own);
  Kept& kept = kept_[key];
  kept.process = thread.process;
  kept.own = own;
  if (counts_instructions_) kept.counter = open_counter(thread.id, Counted::instructions);
}

/// What the program wants for the threads that the balancer does not keep.
void Balancer::refresh_own_affinities() {
  asked_own_s_ = now_s();
  for (auto& [key, kept] : kept_) {
    const auto thread = finder_.threads().find(key);
    CpuSet seen;
    if (kept.cpu || thread == finder_.threads().end()) continue;
    if (!get_affinity(thread->second.id, seen)) continue;
    const Kept* const former = former_self(thread->second, seen);
    kept.own = former != nullptr ? former->own : seen;
    if (former == nullptr) continue;
    set_affinity(thread->second.id, kept.own);
    kept.is_lost = true;
  }
}

/// A thread that becomes another program takes the number of its process's first thread, and the
/// cpu that it was kept on comes along; the number it had is gone. Null where that did not happen.
const Kept* Balancer::former_self(const FoundThread& first, const CpuSet& seen) const {
  const Cpus cpus = seen.cpus();
  if (first.id != first.process || cpus.size() != 1) return nullptr;
  for (const auto& [key, kept] : kept_) {
    if (kept.process != first.process || key == first.key) continue;
    if (kept.cpu != cpus[0] && kept.before != cpus[0]) continue;
    const auto found = finder_.threads().find(key);
    if (found == finder_.threads().end() || !read_time(found->second)) return &kept;
  }
  return nullptr;
}

/// A thread that is not where the balancer put it was moved by the program, or its user, on
/// purpose, unless it may now use every cpu: then the kernel gave it other cpus.
void Balancer::respect_own_choice(std::uint64_t key, Kept& kept) {
  const auto thread = finder_.threads().find(key);
  CpuSet seen;
  if (!kept.cpu || thread == finder_.threads().end() || !get_affinity(thread->second.id, seen))
    return;
  if (seen.count() == 1 && seen.has(*kept.cpu)) return;
  if (common_cpus(seen.cpus(), cpus_) == cpus_ || former_self(thread->second, seen) != nullptr) {
    set_affinity(thread->second.id, CpuSet({*kept.cpu}));
    return;
  }
  if (usable_cpus(options_) != cpus_) return;  // the kernel is at it: next round knows
  note_once(fmt::format("the program sets affinities of its own: such threads are left alone"));
  ++tally_.own_choices;
  end_stay(key, kept);
  kept.cpu.reset();
  kept.own = seen;
  guard_.drop(key);
  team_.leave_alone(key);
}

/// Asking costs a third of reading times, and more when it is done a little in each round. Threads
/// that are to move are asked before (carry_out).
void Balancer::respect_own_choices() {
  if (tally_.rounds % kChoiceRounds != 0) return;
  for (auto& [key, kept] : kept_) respect_own_choice(key, kept);
}

/// Those whose number a thread that is gone may have taken (former_self).
void Balancer::ask_first_threads() {
  for (auto& [key, kept] : kept_) {
    const auto thread = finder_.threads().find(key);
    const bool is_first = thread != finder_.threads().end() && thread->second.id == kept.process;
    if (is_first) respect_own_choice(key, kept);
  }
}

void Balancer::read() {
  readings_.clear();
  auto kept = kept_.begin();
  for (const auto& [key, thread] : finder_.threads()) {
    while (kept != kept_.end() && kept->first < key) ++kept;
    if (kept == kept_.end()) return;
    if (thread.rank_in_process == options_.skip_thread || kept->first != key) continue;
    const auto time = read_time(thread);
    if (!time) {
      saw_death_ = kept->second.is_lost = true;
      continue;
    }
    if (std::exchange(kept->second.is_lost, false)) {  // the team forgets what it knew of it
      release(key);
      continue;
    }
    ThreadReading reading{.key = key, .run_s = time->run_s, .wait_s = time->wait_s};
    if (counts_instructions_) reading.work = read_counter(kept->second.counter);
    add_bounds(kept->second.own, reading);
    readings_.push_back(reading);
  }
}

/// What a thread's own affinity leaves of the cpus.
void Balancer::add_bounds(const CpuSet& own, ThreadReading& reading) const {
  PlaceId place = 0;
  std::size_t num_own = 0;
  for (PlaceId p = 0; p < cpus_.size(); ++p) {
    if (!own.has(cpus_[p])) continue;
    ++num_own;
    place = p;
  }
  reading.is_bound = num_own < cpus_.size();
  if (num_own == 1 && reading.is_bound) reading.own_place = place;
}

void Balancer::carry_out(const JuggleOrder& order) {
  const auto thread = finder_.threads().find(order.key);
  const auto kept = kept_.find(order.key);
  if (thread == finder_.threads().end() || kept == kept_.end()) return;
  if (!order.place) {
    release(order.key);
    return;
  }
  if (kept->second.cpu) {
    respect_own_choice(order.key, kept->second);
    if (!kept->second.cpu) return;
  }
  const FoundThread& found = thread->second;
  if (!finder_.is_ours(found.process)) {  // it has become another user's
    team_.leave_alone(order.key);
    return;
  }
  if (!guard_.keeps(order.key) &&
      !guard_.keep(order.key, {found.process, found.id, found.start_time, kept->second.own}))
    return;
  const CpuId cpu = cpus_[*order.place];
  if (set_affinity(found.id, CpuSet({cpu}))) {
    end_stay(order.key, kept->second);
    kept->second.before = std::exchange(kept->second.cpu, cpu);
    kept->second.since_s = now_s();
    ++tally_.migrations;
    return;
  }
  if (errno == ESRCH) return;
  const int error = errno;
  ++tally_.refusals;
  if (error != EINVAL)
    note_once(fmt::format("threads may not be moved here ({}): they are not balanced",
                          std::strerror(error)));
  // A cpu that is gone is refused for now; one that is there, for good.
  if (error != EINVAL || usable_cpus(options_) == cpus_) team_.leave_alone(order.key);
}

void Balancer::release(std::uint64_t key) {
  const auto kept = kept_.find(key);
  guard_.give_back(key);
  if (kept == kept_.end()) return;
  end_stay(key, kept->second);
  kept->second.before = std::exchange(kept->second.cpu, std::nullopt);
}

void Balancer::forget(std::uint64_t key) {
  guard_.drop(key);
  if (const auto past = past_.find(key); past != past_.end()) past->second.takes_part = false;
  const auto kept = kept_.find(key);
  if (kept == kept_.end()) return;
  end_stay(key, kept->second);
  kept_.erase(kept);
}

void Balancer::end_stay(std::uint64_t key, Kept& kept) {
  if (!options_.wants_stays || !kept.cpu || tally_.stays.size() >= kMaxStays) return;
  const auto past = past_.find(key);
  if (past == past_.end()) return;
  tally_.stays.push_back({past->second.process, past->second.id, *kept.cpu, kept.since_s, now_s()});
}

void Balancer::replace_guard() {
  guard_.restart();
  finder_.do_not_follow(guard_.pid());
}

void Balancer::round() {
  const Guard::Release release = guard_.release();
  if (release == Guard::Release::under_way) return;  // this process was stopped; next time
  if (release == Guard::Release::done) start_anew();
  const double cpu_s = clock_s(CLOCK_THREAD_CPUTIME_ID);
  const double real_s = now_s() - std::exchange(round_s_, now_s());
  refresh_cpus();
  const bool looks = is_time_to_look();
  if (looks) look();
  if (!looks && (now_s() < kStartS || now_s() - asked_own_s_ >= kAskOwnEveryS))
    refresh_own_affinities();
  if (now_s() - asked_quota_s_ >= kAskQuotaEveryS) warn_of_quota();
  respect_own_choices();
  read();
  const std::vector<JuggleOrder> orders = team_.balance(readings_, now_s());
  for (const JuggleOrder& order : orders) carry_out(order);
  const bool visits = learn_speeds();
  tell_threads();
  const bool is_still = !looks && orders.empty() && !visits;
  count_round(clock_s(CLOCK_THREAD_CPUTIME_ID) - cpu_s, real_s, is_still);
  if (!options_.on_round) return;
  tally_.threads.clear();
  for (const auto& [key, thread] : past_) tally_.threads.push_back(thread);
  options_.on_round(tally_);
}

void Balancer::tell_threads() {
  const double average_s = team_.average_progress_s();
  for (const JuggleMember& member : team_.members()) {
    const auto found = finder_.threads().find(member.last.key);
    if (const auto past = past_.find(member.last.key); past != past_.end())
      past->second.takes_part = member.takes_part;
    if (!member.takes_part || found == finder_.threads().end()) continue;
    ThreadTally& tally = past_[member.last.key];
    if (!tally.took_part) tally.part_since_s = round_s_;
    tally = {.key = member.last.key,
             .process = found->second.process,
             .id = found->second.id,
             .took_part = true,
             .takes_part = true,
             .cpu = member.place ? static_cast<int>(cpus_[*member.place]) : -1,
             .part_since_s = tally.part_since_s,
             .seen_s = round_s_,
             .run_s = member.last.run_s - member.run_before_s,
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
  tally_.elapsed_s = now_s();
  if (tally_.is_balancing) tally_.balancing_s += real_s;
  tally_.is_balancing = team_.is_balancing();
  tally_.period_s = team_.period_s();
  count_what_was_possible(real_s);
}

/// Of the time since the round before, with the threads and cpus there were then.
void Balancer::count_what_was_possible(double real_s) {
  if (team_size_ > 0) {
    const double threads = team_size_, cpus = static_cast<double>(cpus_.size());
    tally_.part_s += real_s;
    tally_.threads_s += threads * real_s;
    tally_.fair_s += std::min(threads, cpus) * real_s;
    tally_.static_s += threads / std::ceil(threads / cpus) * real_s;
  }
  team_size_ = team_.num_taking_part();
  tally_.most_threads = std::max(tally_.most_threads, team_size_);
}

double Balancer::next_s() {
  return team_.next_s() * random_.uniform(1 - options_.jitter, 1 + options_.jitter);
}

Tally Balancer::finish() {
  for (auto& [key, kept] : kept_) end_stay(key, kept);
  guard_.give_all_back();
  tally_.elapsed_s = now_s();
  tally_.own_cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID);
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  tally_.wake_ups = static_cast<std::uint64_t>(usage.ru_nvcsw);
  tally_.cpus = cpus_;
  tally_.speeds = speeds_;
  tally_.threads.clear();
  for (const auto& [key, thread] : past_) {
    tally_.threads.push_back(thread);
    tally_.program_run_s += thread.run_s;
  }
  return std::move(tally_);
}

timespec timespec_of(double wait_s) {
  const double whole_s = std::floor(std::max(0.0, wait_s));
  return {static_cast<time_t>(whole_s), static_cast<long>((std::max(0.0, wait_s) - whole_s) * 1e9)};
}

/// What the balancer was woken for.
struct Told {
  bool somebody_ended = false;  // the program, the guard or an adopted child
  bool leaves = false;          // an attached balancer is to leave its program
  bool is_early = false;        // no balancing point is due yet
};

/// As the terminal stops a program that does nothing about it, so that a shell sees the same.
void stop_self() {
  sigset_t stop;
  ::sigemptyset(&stop);
  ::sigaddset(&stop, SIGTSTP);
  ::raise(SIGTSTP);
  ::sigprocmask(SIG_UNBLOCK, &stop, nullptr);
  ::sigprocmask(SIG_BLOCK, &stop, nullptr);
}

/// Hands signals on.
Told take_signals(const Signals& signals, const Program& program) {
  Told told;
  while (const auto info = signals.next()) {
    const auto signal = static_cast<int>(info->ssi_signo);
    if (signal == SIGCHLD) {
      told.somebody_ended = true;
      continue;
    }
    if (program.is_child()) {
      program.hand_on(signal, info->ssi_code);
    } else {
      told.leaves |= signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
    }
    if (signal == SIGTSTP) stop_self();
  }
  return told;
}

void say_not_balanced(const Options& options, const std::exception& reason) {
  if (options.on_note)
    options.on_note(fmt::format("the program runs, but is not balanced: {}", reason.what()));
}

/// A program and the balancer that it has for as long as it can be balanced.
class Watch {
 public:
  Watch(Program& program, Guard& guard, const Signals& signals, const Options& options)
      : program_(program), guard_(guard), signals_(signals), options_(options) {}

  /// Balances until the program ends, or an attached balancer is told to leave it.
  Outcome run();

 private:
  double now_s() const { return clock_s(CLOCK_MONOTONIC); }
  /// What cannot be had must not cost the program: it runs on without a balancer.
  template <typename Step>
  void with_balancer(Step step);
  void balance();
  Told wait();
  Tally finish() { return balancer_ ? balancer_->finish() : Tally{}; }

  Program& program_;
  Guard& guard_;
  const Signals& signals_;
  const Options& options_;
  std::optional<Balancer> balancer_;
  double due_s_ = now_s();  // for the next balancing point
  double reap_s_ = 0;       // for the next look at children
  bool is_unbalanced_ = false;
};

template <typename Step>
void Watch::with_balancer(Step step) {
  if (is_unbalanced_) return;
  try {
    if (!balancer_) balancer_.emplace(options_, guard_, program_);
    step(*balancer_);
  } catch (const std::exception& exception) {
    if (!program_.is_child()) throw;
    is_unbalanced_ = true;
    guard_.give_all_back();
    say_not_balanced(options_, exception);
  }
}

/// Sleeps until something is due, signals come, or an attached program ends.
Told Watch::wait() {
  double until_s = due_s_;
  if (is_unbalanced_) until_s = reap_s_;
  if (program_.pidfd() < 0 && !program_.is_child()) until_s = std::min(due_s_, reap_s_);
  pollfd ends[] = {{signals_.descriptor(), POLLIN, 0}, {program_.pidfd(), POLLIN, 0}};
  const timespec wait = timespec_of(until_s - now_s());
  const int num_ends = ::ppoll(ends, 2, &wait, nullptr);
  if (num_ends < 0 && errno != EINTR) fail_at("wait");
  Told told;
  if (num_ends > 0 && ends[0].revents != 0) told = take_signals(signals_, program_);
  if (num_ends > 0 && ends[1].revents != 0) told.somebody_ended = true;
  told.is_early = num_ends != 0 && now_s() < due_s_;
  return told;
}

void Watch::balance() {
  with_balancer([](Balancer& balancer) { balancer.round(); });
  if (balancer_) due_s_ = now_s() + balancer_->next_s();
}

Outcome Watch::run() {
  for (Told told;; told = wait()) {
    if (told.leaves) return {{}, finish()};
    if (told.somebody_ended || now_s() >= reap_s_) {
      if (auto ending = program_.ended()) return {*ending, finish()};
      if (guard_.has_died()) with_balancer([](Balancer& balancer) { balancer.replace_guard(); });
      reap_s_ = now_s() + kReapEveryS;
    }
    if (told.is_early) {
      with_balancer([](Balancer& balancer) { balancer.count_early_wake_up(); });
    } else {
      balance();
    }
  }
}

void check(const Options& options) {
  if (options.cpus.empty() || !common_cpus(options.cpus, allowed_cpus()).empty()) return;
  fail("cpus {}: none of them may be used here; allowed are {}", cpu_list_text(options.cpus),
       cpu_list_text(allowed_cpus()));
}

}  // namespace

Outcome run_balanced(const std::vector<std::string>& command, const Options& options) {
  std::optional<Signals> signals;
  std::optional<Guard> guard;
  try {
    check(options);
    signals.emplace();
    guard.emplace();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& reason) {
    say_not_balanced(options, reason);
    signals.reset();
    return {become(command), {}};
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // children whose parents died stay in sight
  Program program = Program::start(command, *signals);
  return Watch(program, *guard, *signals, options).run();
}

Outcome attach_balanced(pid_t pid, const Options& options) {
  check(options);
  const Signals signals;
  Program program = Program::attach(pid);
  Guard guard;
  return Watch(program, guard, signals, options).run();
}

}  // namespace poise::juggle
