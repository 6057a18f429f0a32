// SPDX-License-Identifier: BSD-3-Clause
// The library that `poise juggle` preloads into a program to learn immediately when a thread begins
// to wait. It replaces the calls by which threads wait: each call notes in the shared table that
// the thread waits, and tells the balancer, which then moves other threads. The library decides
// nothing.
//
// If there is no table (the variable kWaitsVariable is not set, the balancer has ended, or /proc
// belongs to another container), every call goes straight to the original function. The library
// keeps no file open, because some programs close all files that they did not open themselves.
//
// GCC's OpenMP run-time calls the kernel without the C library, so this library cannot see the
// waits of GCC's run-time. Instead it replaces the OpenMP functions at whose end threads wait for
// each other: parallel regions, loops and barriers. All threads of a region except the first wait
// from the end of the region to the beginning of the next one. LLVM's run-time waits by
// pthread_cond_wait and sched_yield.
#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtimes/juggle/tuning.h"
#include "runtimes/juggle/wait_table.h"

#include "poise/base/clock.h"

namespace {

using namespace poise::juggle;

WaitTable* table = nullptr;

struct OwnSlot {
  WaitSlot* slot = nullptr;
  bool has_asked = false;
  ~OwnSlot() {
    if (slot != nullptr) slot->thread.store(0, std::memory_order_relaxed);
    slot = nullptr;
    has_asked = true;  // own_slot() now returns null: the ending thread reports no more waits
  }
};
thread_local OwnSlot own;

template <typename Function>
Function as_function(void* found) {
  Function function;
  std::memcpy(&function, &found, sizeof function);
  return function;
}

/// Searches for the function `name` in the library or program that contains the address `caller`,
/// and in the libraries loaded with it. A search in the whole program would miss an OpenMP run-time
/// that an interpreter has loaded for one module only.
void* original_of(const void* caller, const char* name) {
  Dl_info object;
  if (::dladdr(caller, &object) == 0) return nullptr;
  void* const handle = ::dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* const found = ::dlsym(handle, name);
  ::dlclose(handle);
  return found;
}

/// This library defines functions that have the same names as functions of other libraries, and so
/// replaces them. Returns the replaced function called `name`, or null if no other library has one.
/// glibc has two versions of pthread_cond_*; the newer one is returned if it exists.
template <typename Function>
Function original(std::atomic<Function>& cache, const char* name, const void* caller) {
  if (const Function known = cache.load(std::memory_order_acquire)) return known;
  void* found = ::dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
  if (found == nullptr) found = ::dlsym(RTLD_NEXT, name);
  if (found == nullptr) return as_function<Function>(original_of(caller, name));
  cache.store(as_function<Function>(found), std::memory_order_release);
  return as_function<Function>(found);
}

// The static variable has a constant initial value, so the compiler adds no lock for its
// initialisation. Such a lock would call syscall(), which this library replaces.
#define POISE_ORIGINAL(type, name, parameters)                      \
  static std::atomic<type(*) parameters> name##_original = nullptr; \
  const auto real = original(name##_original, #name, __builtin_return_address(0));

long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                 long f = 0) {
  POISE_ORIGINAL(long, syscall, (long, ...))
  return real(number, a, b, c, d, e, f);
}

WaitSlot* own_slot() {
  if (table == nullptr) return nullptr;
  if (own.has_asked) return own.slot;
  own.has_asked = true;
  own.slot = slot_of(*table, system_call(SYS_gettid), true);
  if (own.slot != nullptr) {  // the slot may hold values of a killed thread with the same id
    own.slot->is_inside.store(false, std::memory_order_relaxed);
    own.slot->yield_ns.store(0, std::memory_order_relaxed);
  }
  return own.slot;
}

void tell() {
  if (table->has_news.load(std::memory_order_relaxed) == 0 && table->has_news.exchange(1) == 0)
    system_call(SYS_futex, reinterpret_cast<long>(&table->has_news), FUTEX_WAKE, 1);
}

void begin_wait(WaitSlot* slot) {
  if (slot == nullptr) return;
  slot->is_inside.store(true, std::memory_order_release);
  tell();
}

void end_wait(WaitSlot* slot) {
  if (slot == nullptr) return;
  // Many calls yield before they block. Without this reset, the balancer could take that yield for
  // a new one after the wait has ended, and conclude that the thread still waits.
  slot->yield_ns.store(0, std::memory_order_relaxed);
  slot->is_inside.store(false, std::memory_order_release);
}

/// While an object of this type exists, the table says that the thread waits. Objects may be
/// nested.
class Wait {
 public:
  Wait() : slot_(own_slot()) {
    if (slot_ == nullptr || slot_->is_inside.load(std::memory_order_relaxed))
      slot_ = nullptr;
    else
      begin_wait(slot_);
  }
  ~Wait() { end_wait(slot_); }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

 private:
  WaitSlot* slot_;
};

bool is_wait(long number, long operation) {
  if (number != SYS_futex) return false;
  const long command = operation & FUTEX_CMD_MASK;
  return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
}

/// True if /proc belongs to the process's own PID namespace, so that the process and the balancer
/// use the same thread ids.
bool is_proc_ours() {
  char self[16] = {};
  return ::readlink("/proc/self", self, sizeof self - 1) > 0 && std::atoi(self) == ::getpid();
}

WaitTable* opened_table() {
  const char* const given = std::getenv(kWaitsVariable);
  const char* const colon = given == nullptr ? nullptr : std::strchr(given, ':');
  if (colon == nullptr || !is_proc_ours()) return nullptr;
  char path[64] = {};
  const std::size_t length = colon - given;
  if (length >= sizeof path) return nullptr;
  std::memcpy(path, given, length);
  const int file = ::open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat status {};
  void* memory = MAP_FAILED;
  if (::fstat(file, &status) == 0 && status.st_size == sizeof(WaitTable))
    memory = ::mmap(nullptr, sizeof(WaitTable), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) return nullptr;
  auto* const opened = static_cast<WaitTable*>(memory);
  if (opened->key == std::strtoull(colon + 1, nullptr, 16)) return opened;
  ::munmap(memory, sizeof(WaitTable));
  return nullptr;
}

__attribute__((constructor)) void open_table() {
  table = opened_table();
  if (table == nullptr) return;
  ::pthread_atfork(nullptr, nullptr, [] {
    own.slot = nullptr;
    own.has_asked = false;
  });
}

/// A parallel region: the function that its threads call, and the argument of this function.
struct Region {
  void (*function)(void*);
  void* data;
};

void run_region(void* given) {
  // Copies the region, because the original exists only until start_region() returns in the thread
  // that called it.
  const Region region = *static_cast<const Region*>(given);
  WaitSlot* const slot = own_slot();
  end_wait(slot);
  region.function(region.data);
  begin_wait(slot);  // the thread waits at the barrier that ends the region
}

/// Starts a parallel region through run_region(), so that a thread counts as waiting before and
/// after it runs its part of the region. The calling thread is the first thread of the region and
/// goes on when the region ends.
template <typename Function, typename... More>
void start_region(Function real, void (*function)(void*), void* data, More... more) {
  if (real == nullptr) return function(data);  // run on one thread; OpenMP allows that
  WaitSlot* const slot = own_slot();
  if (slot == nullptr) return real(function, data, more...);
  Region region{function, data};
  real(run_region, &region, more...);
  end_wait(slot);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int sched_yield() noexcept {
  POISE_ORIGINAL(int, sched_yield, ())
  if (WaitSlot* const slot = own_slot()) {
    const std::int64_t now_ns = poise::wall_now_ns();
    const std::int64_t before_ns = slot->yield_ns.exchange(now_ns, std::memory_order_relaxed);
    if (now_ns - before_ns > kTuning.new_wait_ns) tell();
  }
  return real();
}

long syscall(long number, ...) noexcept {
  long words[6];
  va_list list;
  va_start(list, number);
  for (long& word : words) word = va_arg(list, long);
  va_end(list);
  const auto call = [&] {
    return system_call(number, words[0], words[1], words[2], words[3], words[4], words[5]);
  };
  if (!is_wait(number, words[1])) return call();
  const Wait wait;
  return call();
}

// Functions that do nothing but wait.
#define POISE_WAITS(type, name, parameters, arguments) \
  type name parameters {                               \
    POISE_ORIGINAL(type, name, parameters)             \
    const Wait wait;                                   \
    return real arguments;                             \
  }
POISE_WAITS(int, pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier))
POISE_WAITS(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t* mutex),
            (condition, mutex))
POISE_WAITS(int, pthread_cond_timedwait,
            (pthread_cond_t * condition, pthread_mutex_t* mutex, const timespec* until),
            (condition, mutex, until))
POISE_WAITS(int, pthread_cond_clockwait,
            (pthread_cond_t * condition, pthread_mutex_t* mutex, clockid_t clock,
             const timespec* until),
            (condition, mutex, clock, until))
POISE_WAITS(int, sem_wait, (sem_t * semaphore), (semaphore))
POISE_WAITS(int, sem_timedwait, (sem_t * semaphore, const timespec* until), (semaphore, until))
POISE_WAITS(int, sem_clockwait, (sem_t * semaphore, clockid_t clock, const timespec* until),
            (semaphore, clock, until))
#undef POISE_WAITS

// OpenMP's barriers. If the original function is not found, parallel regions run on one thread, so
// no barrier is needed.
#define POISE_BARRIER(name, parameters, arguments) \
  void name parameters {                           \
    POISE_ORIGINAL(void, name, parameters)         \
    const Wait wait;                               \
    if (real != nullptr) real arguments;           \
  }
POISE_BARRIER(GOMP_barrier, (), ())
POISE_BARRIER(GOMP_loop_end, (), ())
POISE_BARRIER(GOMP_sections_end, (), ())
POISE_BARRIER(__kmpc_barrier, (void* where, std::int32_t thread), (where, thread))
#undef POISE_BARRIER

// Functions that run a parallel region. The first two arguments are the region's function and its
// data; the further arguments are passed on.
#define POISE_REGION(name, parameters, ...) \
  void name parameters {                    \
    POISE_ORIGINAL(void, name, parameters)  \
    start_region(real, __VA_ARGS__);        \
  }
#define POISE_LOOP(name)                                                                     \
  POISE_REGION(name,                                                                         \
               (void (*function)(void*), void* data, unsigned threads, long begin, long end, \
                long step, long chunk, unsigned flags),                                      \
               function, data, threads, begin, end, step, chunk, flags)
#define POISE_LOOP_WITHOUT_CHUNK(name)                                                       \
  POISE_REGION(name,                                                                         \
               (void (*function)(void*), void* data, unsigned threads, long begin, long end, \
                long step, unsigned flags),                                                  \
               function, data, threads, begin, end, step, flags)
POISE_REGION(GOMP_parallel, (void (*function)(void*), void* data, unsigned threads, unsigned flags),
             function, data, threads, flags)
POISE_REGION(GOMP_parallel_sections,
             (void (*function)(void*), void* data, unsigned threads, unsigned count,
              unsigned flags),
             function, data, threads, count, flags)
POISE_LOOP(GOMP_parallel_loop_static)
POISE_LOOP(GOMP_parallel_loop_dynamic)
POISE_LOOP(GOMP_parallel_loop_guided)
POISE_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
POISE_LOOP(GOMP_parallel_loop_nonmonotonic_guided)
POISE_LOOP_WITHOUT_CHUNK(GOMP_parallel_loop_runtime)
POISE_LOOP_WITHOUT_CHUNK(GOMP_parallel_loop_nonmonotonic_runtime)
POISE_LOOP_WITHOUT_CHUNK(GOMP_parallel_loop_maybe_nonmonotonic_runtime)
#undef POISE_LOOP_WITHOUT_CHUNK
#undef POISE_LOOP
#undef POISE_REGION

}  // extern "C"
#pragma GCC visibility pop
