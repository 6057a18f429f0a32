// SPDX-License-Identifier: BSD-3-Clause
// A benchmark of the thread balancer: threads compute and wait at a barrier, phase after phase.
//
// The micro-benchmark of Hofmeyr et al., "Juggle", HPDC 2011, section 4.1: no memory, no I/O, the
// same work for each thread. Work is measured in CPU time, so other programs on the machine
// lengthen the run but do not change the work. With --memory-kib, the work is a fixed number of
// passes over memory of the thread's own. A calibration at the start determines how many passes
// take as long as a phase. With this option, cache misses after a migration to another CPU lengthen
// the run.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <thread>
#include <vector>

#include "miniapps/arguments.h"

#include "poise/base/error.h"
#include "poise/base/text.h"

namespace {

enum class Waiting { sleep, yield, spin };

double cpu_s(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

/// A barrier whose waiting threads sleep, call yield in a loop, or spin.
class Barrier {
 public:
  Barrier(std::uint32_t num_threads, Waiting waiting) : num_(num_threads), waiting_(waiting) {}

  void wait() {
    const std::uint32_t phase = phase_.load();
    if (arrived_.fetch_add(1) + 1 == num_) {
      arrived_ = 0;
      ++phase_;
      phase_.notify_all();
      return;
    }
    if (waiting_ == Waiting::sleep) {
      phase_.wait(phase);
      return;
    }
    while (phase_.load() == phase)
      if (waiting_ == Waiting::yield) std::this_thread::yield();
  }

 private:
  std::uint32_t num_;
  Waiting waiting_;
  std::atomic<std::uint32_t> arrived_{0}, phase_{0};
};

void compute(double work_s) {
  const double end_s = cpu_s(CLOCK_THREAD_CPUTIME_ID) + work_s;
  while (cpu_s(CLOCK_THREAD_CPUTIME_ID) < end_s) {
    for (volatile int i = 0; i < 1000;) i = i + 1;
  }
}

/// Makes passes over the memory. Returns a sum, so that the compiler cannot remove the loop.
std::uint64_t go_through(std::vector<std::uint64_t>& memory, std::uint64_t passes) {
  std::uint64_t sum = 0;
  for (std::uint64_t pass = 0; pass < passes; ++pass)
    for (std::uint64_t& word : memory) sum += word += pass;
  return sum;
}

/// The number of passes over `num_words` words that take `work_s` seconds of CPU time.
std::uint64_t passes_in(double work_s, std::size_t num_words) {
  constexpr double kTrialS = 0.05;  // CPU time in seconds that the calibration takes
  const std::uint64_t at_once = std::max<std::uint64_t>(1, (1 << 20) / num_words);
  std::vector<std::uint64_t> memory(num_words, 1);
  const double start_s = cpu_s(CLOCK_THREAD_CPUTIME_ID);
  double took_s = 0;
  std::uint64_t passes = 0;
  volatile std::uint64_t sum = 0;
  while (took_s < kTrialS) {
    sum = sum + go_through(memory, at_once);
    passes += at_once;
    took_s = cpu_s(CLOCK_THREAD_CPUTIME_ID) - start_s;
  }
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(passes * work_s / took_s));
}

/// Binds the calling thread to one of the allowed CPUs, round robin by thread number.
void bind(std::uint32_t thread, const cpu_set_t& allowed) {
  int nth = static_cast<int>(thread) % CPU_COUNT(&allowed), cpu = 0;
  while (!CPU_ISSET(cpu, &allowed) || nth-- > 0) ++cpu;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
}

Waiting waiting_named(const std::string& name) {
  if (name == "sleep") return Waiting::sleep;
  if (name == "yield") return Waiting::yield;
  if (name == "spin") return Waiting::spin;
  poise::fail("--wait is {}; it must be sleep, yield or spin", name);
}

double length_s(const std::string& text) {
  const auto length = poise::parse_duration_s(text);
  if (!length) poise::fail("--phase is {}, which is not a time; write it like 1s or 50ms", text);
  return *length;
}

struct PhasesOptions {
  std::uint32_t threads = 3, phases = 1, memory_kib = 0;
  std::string phase = "1s", wait = "sleep";
  bool bound = false;
};

void run(const PhasesOptions& options) {
  const double phase_s = length_s(options.phase);
  Barrier barrier(options.threads, waiting_named(options.wait));
  cpu_set_t allowed;
  ::sched_getaffinity(0, sizeof allowed, &allowed);
  const std::size_t num_words = options.memory_kib * 1024ULL / sizeof(std::uint64_t);
  const std::uint64_t passes = num_words == 0 ? 0 : passes_in(phase_s, num_words);
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < options.threads; ++t)
    threads.emplace_back([&, t] {
      if (options.bound) bind(t, allowed);
      std::vector<std::uint64_t> memory(num_words, 1);
      volatile std::uint64_t sum = 0;
      for (std::uint32_t phase = 0; phase < options.phases; ++phase) {
        if (passes > 0) {
          sum = sum + go_through(memory, passes);
        } else {
          compute(phase_s);
        }
        barrier.wait();
      }
    });
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  fmt::print("{{\"elapsed_s\": {:.6f}, \"cpu_s\": {:.6f}, \"cpus\": {}}}\n", elapsed.count(),
             cpu_s(CLOCK_PROCESS_CPUTIME_ID), CPU_COUNT(&allowed));
}

}  // namespace

int main(int argc, char** argv) {
  poise::miniapps::Arguments arguments("Threads that compute and wait at barriers.", "phases");
  PhasesOptions options;
  arguments.add("--threads", options.threads, "number of threads", 1, 10000);
  arguments.add("--phases", options.phases, "number of phases", 1, 1000000);
  arguments.add("--phase", options.phase, "CPU time of each thread per phase, like 1s or 50ms");
  arguments.add("--wait", options.wait, "how threads wait at the barrier: sleep, yield or spin");
  arguments.add("--memory-kib", options.memory_kib,
                "KiB of memory that each thread passes over instead of only computing; 0: none", 0,
                1 << 20);
  arguments.add_flag("--bound", options.bound, "bind each thread to one CPU, round robin");
  if (const auto over = arguments.status_after_parsing(argc, argv)) return *over;
  try {
    run(options);
  } catch (const poise::Error& error) {
    fmt::print(stderr, "phases: {}\n", error.what());
    return 2;
  }
}
