// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/probe.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <numeric>
#include <sched.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include "poise/base/clock.h"
#include "poise/base/random.h"
#include "poise/machine/spread.h"
#include "poise/machine/tuning.h"

namespace poise {

namespace {

constexpr std::size_t kLineBytes = 64;
constexpr std::uint64_t kCycleSeed = 1;

double seconds_since(double start_s) { return wall_now_s() - start_s; }

/// Measures the CPU time of the calling thread, so that the time of other programs on its core does
/// not count. A measurement ends after `seconds_s` of CPU time. If other programs keep the core
/// busy, it ends after 2 * `seconds_s` of wall time.
class Stopwatch {
 public:
  double seconds() const { return thread_cpu_now_s() - began_; }
  bool is_time_up(double seconds_s) const {
    return seconds() >= seconds_s || seconds_since(began_on_wall_) >= 2 * seconds_s;
  }

 private:
  double began_ = thread_cpu_now_s();
  double began_on_wall_ = wall_now_s();
};

/// Pins the calling thread and sets the default memory policy, by which a page belongs to the
/// domain that touches it first.
void pin_to(const Machine& machine, PlaceId place) {
  const std::size_t unit = machine.place(place).os_index;
  const std::size_t bytes = CPU_ALLOC_SIZE(unit + 1);
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
      CPU_ALLOC(unit + 1), [](cpu_set_t* cpus) { CPU_FREE(cpus); });
  CPU_ZERO_S(bytes, set.get());
  CPU_SET_S(unit, bytes, set.get());
  if (sched_setaffinity(0, bytes, set.get()) != 0)
    throw std::runtime_error(fmt::format(
        "this process is not allowed to run on processing unit {}; extend its CPU affinity", unit));
  constexpr int kDefaultPolicy = 0;
  syscall(SYS_set_mempolicy, kDefaultPolicy, nullptr, 0);
}

/// Runs a job on a new thread that is pinned to a place; rethrows what the job throws.
class PinnedThread {
 public:
  template <typename Job>
  PinnedThread(const Machine& machine, PlaceId place, Job job)
      : thread_([this, &machine, place, job] {
          try {
            pin_to(machine, place);
            job();
          } catch (...) {
            error_ = std::current_exception();
          }
        }) {}
  ~PinnedThread() {
    if (thread_.joinable()) thread_.join();
  }
  PinnedThread(const PinnedThread&) = delete;
  PinnedThread& operator=(const PinnedThread&) = delete;
  void join() {
    thread_.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::exception_ptr error_;
  std::thread thread_;
};

template <typename Job>
void run_at(const Machine& machine, PlaceId place, Job job) {
  PinnedThread(machine, place, job).join();
}

/// Fresh pages of a domain's memory. They are huge pages if available, so that the pointer chase
/// measures memory and not address translation.
class Pages {
 public:
  Pages(const Facts& facts, DomainId domain, std::size_t bytes) : bytes_(bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      throw std::runtime_error(fmt::format(
          "cannot allocate a buffer of {} bytes for the measurement; free some memory", bytes));
    memory_ = static_cast<char*>(memory);
    madvise(memory_, bytes_, MADV_HUGEPAGE);
    if (domain < facts.numa_index.size()) bind_to(facts.numa_index[domain]);
  }
  ~Pages() { munmap(memory_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  char* data() const { return memory_; }
  std::size_t bytes() const { return bytes_; }

 private:
  /// Calls mbind(), so that the kernel does not migrate pages to the domain that reads them. If a
  /// container forbids mbind(), the first access decides in which domain a page is.
  void bind_to(std::size_t node) {
    constexpr std::size_t kBits = 8 * sizeof(unsigned long);
    constexpr int kBindPolicy = 2;
    std::vector<unsigned long> nodes(node / kBits + 1);
    nodes.back() = 1ul << node % kBits;
    syscall(SYS_mbind, memory_, bytes_, kBindPolicy, nodes.data(), nodes.size() * kBits + 1, 0);
  }

  std::size_t bytes_;
  char* memory_;
};

// Latency.

struct alignas(kLineBytes) Line {
  const Line* next;
};

/// Links the cache lines of a buffer into one random cycle, so that no prefetcher can predict which
/// line comes next.
const Line* link_cycle(const Pages& pages) {
  auto* lines = reinterpret_cast<Line*>(pages.data());
  const std::uint32_t count = pages.bytes() / sizeof(Line);
  const std::vector<std::uint32_t> next = random_cycle(count);
  for (std::uint32_t i = 0; i < count; ++i) lines[i].next = &lines[next[i]];
  return lines;
}

/// Follows the pointers from `at` on and returns nanoseconds per step. Leaves `at` where it
/// stopped, so that the next call continues there and does not repeat the same part of the cycle.
double chase(const Line*& at, double seconds) {
  std::uint64_t steps = 0;
  const Stopwatch watch;
  const Line* line = at;
  do {
    for (std::size_t i = 0; i < machine_tuning::kStepsPerReading; ++i) line = line->next;
    // Makes the compiler assume that this statement reads and changes `line`, so that it keeps
    // every load of the loop above.
    asm volatile("" : "+r"(line));
    steps += machine_tuning::kStepsPerReading;
  } while (!watch.is_time_up(seconds));
  at = line;
  return watch.seconds() * 1e9 / steps;
}

class LatencyProbe {
 public:
  explicit LatencyProbe(const Machine& machine) : machine_(machine) {}

  std::optional<double> operator()(PlaceId owner, PlaceId reader, double seconds) {
    if (!pages_ || owner != owner_) {
      pages_.reset();
      const Facts& facts = machine_.parts().facts;
      pages_ =
          std::make_unique<Pages>(facts, machine_.domain_of(owner), latency_buffer_bytes(facts));
      owner_ = owner;
      run_at(machine_, owner, [this] { at_ = link_cycle(*pages_); });
    }
    double result = 0;
    run_at(machine_, reader, [&] { result = chase(at_, seconds); });
    return result;
  }

 private:
  const Machine& machine_;
  std::unique_ptr<Pages> pages_;
  PlaceId owner_ = 0;
  const Line* at_ = nullptr;
};

// Core to core.

struct alignas(2 * kLineBytes) Ball {
  std::atomic<std::uint64_t> turn{0};
  char rest[2 * kLineBytes - sizeof(std::atomic<std::uint64_t>)] = {};
};

struct Game {
  Ball ball;
  std::atomic<bool> is_over{false};

  /// Waits until it is the turn of this side of the ping-pong. False if the measurement has ended.
  bool wait_for(std::uint64_t turn) {
    while (ball.turn.load(std::memory_order_acquire) != turn)
      if (is_over.load(std::memory_order_relaxed)) return false;
    return true;
  }
};

void answer(Game& game) {
  for (std::uint64_t turn = 1; game.wait_for(turn); turn += 2)
    game.ball.turn.store(turn + 1, std::memory_order_release);
}

/// Returns the one-way time in nanoseconds, or nothing if the other side does not answer in time.
/// The time is the median over short intervals: even if other programs use the same cores, both
/// sides run without a break in most intervals.
std::optional<double> serve(Game& game, double seconds) {
  std::vector<double> stretches_ns;
  const double began = wall_now_s();
  double stretch = began;
  for (std::uint64_t round = 1;; ++round) {
    const std::uint64_t turn = 2 * round - 1;
    game.ball.turn.store(turn, std::memory_order_release);
    for (std::uint64_t spin = 1; game.ball.turn.load(std::memory_order_acquire) != turn + 1; ++spin)
      if (spin % machine_tuning::kSpinsPerReading == 0 &&
          seconds_since(began) > seconds + machine_tuning::kPatience_s)
        return std::nullopt;
    if (round % machine_tuning::kTurnsPerReading != 0) continue;
    if (round > machine_tuning::kWarmUpTurns)
      stretches_ns.push_back(seconds_since(stretch) * 1e9 / (2 * machine_tuning::kTurnsPerReading));
    if (round > machine_tuning::kWarmUpTurns && seconds_since(began) >= seconds)
      return spread_of(std::move(stretches_ns)).median;
    stretch = wall_now_s();
  }
}

std::optional<double> ping_pong(const Machine& machine, PlaceId a, PlaceId b, double seconds) {
  Game game;
  std::optional<double> result;
  PinnedThread other(machine, b, [&game] { answer(game); });
  try {
    run_at(machine, a, [&] { result = serve(game, seconds); });
  } catch (...) {
    game.is_over = true;
    throw;
  }
  game.is_over = true;
  other.join();
  return result;
}

// Bandwidth.

/// STREAM's triad a = b + s * c, which moves 24 bytes per element.
struct Triad {
  double *a, *b, *c;
  std::size_t count;

  void run() const {
    for (std::size_t i = 0; i < count; ++i) a[i] = b[i] + 3.0 * c[i];
    asm volatile("" : : "r"(a) : "memory");
  }
};

class BandwidthProbe {
 public:
  explicit BandwidthProbe(const Machine& machine) : machine_(machine) {}

  std::optional<double> operator()(DomainId owner, DomainId readers, double seconds) {
    if (!pages_ || owner != owner_) fill(owner);
    share_out(readers);
    const PlaceId first = machine_.first_place(readers);
    std::atomic<std::size_t> waiting{triads_.size()};
    std::vector<double> bytes_per_s(triads_.size());
    std::vector<std::unique_ptr<PinnedThread>> threads;
    for (std::size_t i = 0; i < triads_.size(); ++i)
      threads.push_back(
          std::make_unique<PinnedThread>(machine_, first + static_cast<PlaceId>(i), [&, i] {
            // All threads start together. Otherwise the first thread would use the memory alone and
            // measure too high a bandwidth. A thread waits for the others for at most
            // machine_tuning::kPatience_s.
            const double came = wall_now_s();
            --waiting;
            while (waiting > 0 && seconds_since(came) < machine_tuning::kPatience_s)
              std::this_thread::yield();
            bytes_per_s[i] = run(triads_[i], seconds);
          }));
    for (const auto& thread : threads) thread->join();
    return std::accumulate(bytes_per_s.begin(), bytes_per_s.end(), 0.0) * 1e-9;
  }

 private:
  void fill(DomainId owner) {
    pages_.reset();
    owner_ = owner;
    const Facts& facts = machine_.parts().facts;
    pages_ = std::make_unique<Pages>(facts, owner,
                                     bandwidth_buffer_bytes(facts, machine_.num_domains()));
    run_at(machine_, machine_.first_place(owner), [this] {
      std::fill_n(reinterpret_cast<double*>(pages_->data()), pages_->bytes() / sizeof(double), 1.0);
    });
  }

  void share_out(DomainId readers) {
    triads_.clear();
    const PlaceId cores = machine_.first_place(readers + 1) - machine_.first_place(readers);
    const std::size_t count = pages_->bytes() / sizeof(double) / cores / 3 / 8 * 8;
    auto* next = reinterpret_cast<double*>(pages_->data());
    for (PlaceId i = 0; i < cores; ++i, next += 3 * count)
      triads_.push_back({next, next + count, next + 2 * count, count});
  }

  static double run(const Triad& triad, double seconds) {
    const Stopwatch watch;
    double bytes = 0;
    do {
      triad.run();
      bytes += 24.0 * triad.count;
    } while (!watch.is_time_up(seconds));
    return bytes / watch.seconds();
  }

  const Machine& machine_;
  std::unique_ptr<Pages> pages_;
  DomainId owner_ = 0;
  std::vector<Triad> triads_;
};

std::size_t buffer_bytes(std::uint64_t wanted, std::size_t most, const Facts& facts) {
  std::uint64_t bytes = std::clamp<std::uint64_t>(wanted, machine_tuning::kMinProbe_bytes, most);
  for (const std::uint64_t memory : facts.memory_bytes)
    if (memory > 0) bytes = std::min(bytes, memory / 4);
  return std::max<std::uint64_t>(bytes, 1u << 20) / kLineBytes * kLineBytes;
}

}  // namespace

/// Uses Sattolo's algorithm.
std::vector<std::uint32_t> random_cycle(std::uint32_t count) {
  std::vector<std::uint32_t> next(count);
  std::iota(next.begin(), next.end(), 0u);
  Random random(kCycleSeed);
  for (std::uint32_t i = count - 1; i > 0; --i) std::swap(next[i], next[random.below(i)]);
  return next;
}

std::size_t latency_buffer_bytes(const Facts& facts) {
  std::uint64_t largest = 0;
  for (const Cache& cache : facts.caches) largest = std::max(largest, cache.bytes);
  return buffer_bytes(4 * largest, machine_tuning::kMaxLatencyProbe_bytes, facts);
}

std::size_t bandwidth_buffer_bytes(const Facts& facts, DomainId domains) {
  std::map<std::string, std::uint64_t> bytes_of_level;
  for (const Cache& cache : facts.caches) bytes_of_level[cache.name] += cache.bytes * cache.count;
  std::uint64_t largest = 0;
  for (const auto& [level, bytes] : bytes_of_level) largest = std::max(largest, bytes);
  return buffer_bytes(4 * largest / domains, machine_tuning::kMaxBandwidthProbe_bytes, facts);
}

Probes live_probes(const Machine& machine) {
  // The functions share the ownership of the probes and their buffers, because std::function must
  // be copyable.
  auto latency = std::make_shared<LatencyProbe>(machine);
  auto bandwidth = std::make_shared<BandwidthProbe>(machine);
  Probes probes;
  probes.read_ns = [latency](PlaceId owner, PlaceId reader, double seconds) {
    return (*latency)(owner, reader, seconds);
  };
  probes.one_way_ns = [&machine](PlaceId a, PlaceId b, double seconds) {
    return ping_pong(machine, a, b, seconds);
  };
  probes.gigabytes_per_s = [bandwidth](DomainId owner, DomainId readers, double seconds) {
    return (*bandwidth)(owner, readers, seconds);
  };
  return probes;
}

}  // namespace poise
