// SPDX-License-Identifier: BSD-3-Clause
// The library that `poise juggle` preloads into a program to learn immediately when a thread begins
// to wait. It replaces the calls by which threads wait: each call notes in the shared table that
// the thread waits, and tells the balancer, which then moves other threads. The library decides
// nothing.
//
// If there is no table (the variable kWaitsVariable is not set, the balancer has ended, /proc
// belongs to another container, or the C library is not glibc), every call goes straight to the
// original function. The library keeps no file open, because some programs close all files that
// they did not open themselves.
//
// GCC's OpenMP run-time calls the kernel without the C library, so this library cannot see the
// waits of GCC's run-time. Instead it replaces the OpenMP functions at whose end threads wait for
// each other: parallel regions, loops and barriers. All threads of a region except the first wait
// from the end of the region to the beginning of the next one. LLVM's run-time waits by
// pthread_cond_wait and sched_yield.
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <iterator>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include "runtimes/juggle/tuning.h"
#include "runtimes/juggle/wait_table.h"

#include "poise/base/clock.h"

// Only glibc has this function. Because the reference is weak, a program with another C library,
// such as musl, starts all the same.
#pragma weak dlvsym

namespace {

using namespace poise::juggle;

WaitTable* table = nullptr;

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

/// A function of another library that this library replaces by one of the same name.
///
/// A thread that searches for a function waits for the loader's lock. Another thread that loads a
/// library holds this lock while it runs the constructors of that library. If a constructor waits
/// for the first thread, the two threads deadlock. So all functions are searched for when this
/// library is loaded. Only a function whose library is loaded later (such as the OpenMP run-time of
/// an interpreter's module) is searched for at the first call from each call site in the program.
template <typename Function>
class Original {
 public:
  constexpr explicit Original(const char* name) : name_(name) {}

  /// Searches in the libraries that are loaded for the whole program, and returns null if none has
  /// the function. glibc has two versions of pthread_cond_*; the newer one is taken if it exists.
  Function find() {
    void* found = ::dlvsym == nullptr ? nullptr : ::dlvsym(RTLD_NEXT, name_, "GLIBC_2.3.2");
    if (found == nullptr) found = ::dlsym(RTLD_NEXT, name_);
    ::dlerror();  // the program must not see the error of this search
    everywhere_.store(as_function<Function>(found), std::memory_order_release);
    return as_function<Function>(found);
  }

  /// Returns the function that the code at the address `caller` would call without this library, or
  /// null if there is none.
  Function called_from(const void* caller) {
    if (const Function known = everywhere_.load(std::memory_order_acquire)) return known;
    Call& call = calls_[reinterpret_cast<std::uintptr_t>(caller) % std::size(calls_)];
    if (call.caller.load(std::memory_order_acquire) == caller) return call.function;
    if (const Function found = find()) return found;
    const auto found = as_function<Function>(original_of(caller, name_));
    if (found != nullptr) keep(call, caller, found);
    return found;
  }

 private:
  struct Call {
    std::atomic<const void*> caller = nullptr;
    Function function = nullptr;
  };

  /// Stores the function found for a caller, unless the entry is in use or another thread is
  /// storing a function at this moment.
  void keep(Call& call, const void* caller, Function found) {
    if (is_keeping_.test_and_set(std::memory_order_acquire)) return;
    if (call.caller.load(std::memory_order_relaxed) == nullptr) {
      call.function = found;
      call.caller.store(caller, std::memory_order_release);
    }
    is_keeping_.clear(std::memory_order_release);
  }

  const char* name_;
  std::atomic<Function> everywhere_ = nullptr;  // one function for all callers
  std::atomic_flag is_keeping_;
  Call calls_[kTuning.kept_calls];
};

// The constant initial value lets other libraries' constructors call functions before this library
// has been initialised.
#define POISE_ORIGINAL(type, name, parameters)                          \
  static constinit Original<type(*) parameters> name##_original(#name); \
  __attribute__((constructor)) static void find_##name() { name##_original.find(); }
#define POISE_REAL(name) name##_original.called_from(__builtin_return_address(0))

#if defined(__x86_64__) || defined(__aarch64__)
/// Does what syscall(2) does, without a search for that function. The search would allocate memory,
/// so an allocator that calls syscall() while it starts, such as jemalloc, would deadlock.
long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                 long f = 0) {
#ifdef __x86_64__
  long result;
  register long fourth asm("r10") = d;
  register long fifth asm("r8") = e;
  register long sixth asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
#else
  register long call asm("x8") = number;
  register long result asm("x0") = a;
  register long second asm("x1") = b;
  register long third asm("x2") = c;
  register long fourth asm("x3") = d;
  register long fifth asm("x4") = e;
  register long sixth asm("x5") = f;
  asm volatile("svc #0"
               : "+r"(result)
               : "r"(call), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
               : "memory");
#endif
  constexpr long kMaxErrno = 4095;
  if (result >= 0 || result < -kMaxErrno) return result;
  errno = -result;
  return -1;
}
#else
POISE_ORIGINAL(long, syscall, (long, ...))

long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                 long f = 0) {
  return POISE_REAL(syscall)(number, a, b, c, d, e, f);
}
#endif

/// What a thread knows about itself. This type has no destructor: in a thread's first wait, the C++
/// library would register the destructor, call malloc and wait for the loader's lock. A pthread
/// key, which does neither, frees the slot.
struct Own {
  WaitSlot* slot = nullptr;
  bool has_asked = false;
  bool is_at_barrier = false;  // of OpenMP
};
__attribute__((tls_model("initial-exec"))) constinit thread_local Own own;
pthread_key_t end_of_thread;

WaitSlot* own_slot() {
  if (table == nullptr) return nullptr;
  if (own.has_asked) return own.slot;
  own.has_asked = true;
  own.slot = slot_of(*table, system_call(SYS_gettid), true);
  if (own.slot != nullptr) {  // the slot may hold values of a killed thread with the same id
    own.slot->is_inside.store(false, std::memory_order_relaxed);
    own.slot->yield_ns.store(0, std::memory_order_relaxed);
    ::pthread_setspecific(end_of_thread, own.slot);
  }
  return own.slot;
}

/// Frees the slot of a thread that ends. The thread reports no more waits.
void leave_table(void* /*slot*/ = nullptr) {
  WaitSlot* const slot = std::exchange(own, {.has_asked = true}).slot;
  if (slot == nullptr) return;
  auto thread = static_cast<pid_t>(system_call(SYS_gettid));
  slot->thread.compare_exchange_strong(thread, 0);  // a child of _Fork() has the slot of its parent
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
  // Many calls yield before they block. If yield_ns were not reset at the end of the wait, the
  // balancer could take the old yield for a new one, and conclude that the thread still waits.
  slot->yield_ns.store(0, std::memory_order_relaxed);
  slot->is_inside.store(false, std::memory_order_release);
}

/// While an object of this type exists, the table says that the thread waits, unless a barrier of
/// OpenMP says so already: LLVM's barriers call other functions that wait.
///
/// If the thread is cancelled in its wait or leaves it by longjmp, the destructor does not run.
/// Then the thread counts as waiting until the end of its next wait.
class Wait {
 public:
  Wait() : slot_(own.is_at_barrier ? nullptr : own_slot()) { begin_wait(slot_); }
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
  // Does the same as pthread_atfork(), but is searched for, because only glibc has it.
  using Handler = void (*)();
  const auto register_atfork = as_function<int (*)(Handler, Handler, Handler, void*)>(
      ::dlsym(RTLD_DEFAULT, "__register_atfork"));
  WaitTable* const opened = register_atfork == nullptr ? nullptr : opened_table();
  if (opened == nullptr || ::pthread_key_create(&end_of_thread, leave_table) != 0) return;
  register_atfork(
      nullptr, nullptr, [] { own = {}; }, nullptr);
  table = opened;
}

__attribute__((destructor)) void leave_table_at_exit() { leave_table(); }

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
  if (WaitSlot* const slot = own_slot()) {
    const std::int64_t now_ns = poise::wall_now_ns();
    const std::int64_t before_ns = slot->yield_ns.exchange(now_ns, std::memory_order_relaxed);
    if (now_ns - before_ns > kTuning.new_wait_ns) tell();
  }
  return system_call(SYS_sched_yield);
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
  POISE_ORIGINAL(type, name, parameters)               \
  type name parameters {                               \
    const auto real = POISE_REAL(name);                \
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
#define POISE_BARRIER(name, parameters, arguments)                      \
  POISE_ORIGINAL(void, name, parameters)                                \
  void name parameters {                                                \
    const auto real = POISE_REAL(name);                                 \
    if (real == nullptr) return;                                        \
    const Wait wait;                                                    \
    const bool was_at_barrier = std::exchange(own.is_at_barrier, true); \
    real arguments;                                                     \
    own.is_at_barrier = was_at_barrier;                                 \
  }
POISE_BARRIER(GOMP_barrier, (), ())
POISE_BARRIER(GOMP_loop_end, (), ())
POISE_BARRIER(GOMP_sections_end, (), ())
POISE_BARRIER(__kmpc_barrier, (void* where, std::int32_t thread), (where, thread))
#undef POISE_BARRIER

// Functions that run a parallel region. The first two arguments are the region's function and its
// data; the further arguments are passed on.
#define POISE_REGION(name, parameters, ...) \
  POISE_ORIGINAL(void, name, parameters)    \
  void name parameters { start_region(POISE_REAL(name), __VA_ARGS__); }
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
