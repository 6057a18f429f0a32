// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/omp_watch.h"

#include <deque>
#include <dlfcn.h>
#include <mutex>

#include "runtimes/profile/settings.h"

#include "poise/base/clock.h"

namespace poise::profile {

void OmpThread::start(std::int64_t now_ns) {
  if (since_ns_ < 0) since_ns_ = now_ns;
}

void OmpThread::stop(std::int64_t now_ns) {
  if (since_ns_ >= 0) worked_ns_.store(worked_ns() + now_ns - since_ns_, std::memory_order_relaxed);
  since_ns_ = -1;
}

void OmpThread::enter_region(std::int64_t now_ns, unsigned threads) {
  if (regions_ == 0 && threads < 2) return;
  ++regions_;
  start(now_ns);
}

void OmpThread::leave_region(std::int64_t now_ns) {
  if (regions_ == 0 || --regions_ > 0) return;
  waits_ = false;
  stop(now_ns);
}

void OmpThread::begin_wait(std::int64_t now_ns) {
  if (regions_ == 0) return;
  waits_ = true;
  stop(now_ns);
}

void OmpThread::end_wait(std::int64_t now_ns) {
  if (regions_ == 0) return;
  waits_ = false;
  start(now_ns);
}

void OmpThread::begin_task(std::int64_t now_ns) {
  if (regions_ > 0) start(now_ns);
}

void OmpThread::end_task(std::int64_t now_ns) {
  if (waits_) stop(now_ns);
}

namespace {

// The part of OMPT (OpenMP 5.0, chapter 4) that is used here. It is declared here, because not all
// compilers come with omp-tools.h.
union Data {
  std::uint64_t value;
  void* ptr;
};
using Callback = void (*)();
using Lookup = Callback (*)(const char*);
using SetCallback = int (*)(int event, Callback callback);
struct StartToolResult {
  int (*initialize)(Lookup, int, Data*);
  void (*finalize)(Data*);
  Data tool_data;
};
enum Event { kTaskSchedule = 6, kImplicitTask = 7, kSyncRegionWait = 16 };
enum Endpoint { kBegin = 1, kEnd = 2 };
constexpr int kInitialTask = 1;         // flag of the task outside all regions
constexpr std::uint64_t kImplicit = 1;  // marks the data of implicit tasks

/// The threads seen so far. They are never removed: a runtime may call back until the process ends.
struct Threads {
  std::mutex mutex;
  std::deque<OmpThread> all;
};

Threads& threads() {
  static Threads* const known = new Threads;
  return *known;
}

OmpThread& own() {
  thread_local OmpThread* const thread = [] {
    const std::lock_guard lock(threads().mutex);
    return &threads().all.emplace_back();
  }();
  return *thread;
}

void implicit_task(int endpoint, Data* /*region*/, Data* task, unsigned team, unsigned /*index*/,
                   int flags) {
  if ((flags & kInitialTask) != 0) return;
  if (endpoint == kBegin) {
    if (task != nullptr) task->value = kImplicit;
    own().enter_region(wall_now_ns(), team);
  } else {
    own().leave_region(wall_now_ns());
  }
}

void sync_region_wait(int /*kind*/, int endpoint, Data* /*region*/, Data* /*task*/,
                      const void* /*code*/) {
  if (endpoint == kBegin) own().begin_wait(wall_now_ns());
  if (endpoint == kEnd) own().end_wait(wall_now_ns());
}

void task_schedule(Data* /*prior*/, int /*status*/, Data* next) {
  if (next != nullptr && next->value != kImplicit)
    own().begin_task(wall_now_ns());
  else
    own().end_task(wall_now_ns());
}

int initialize(Lookup lookup, int /*device*/, Data* /*tool*/) {
  const auto set = reinterpret_cast<SetCallback>(lookup("ompt_set_callback"));
  if (set == nullptr) return 0;
  set(kImplicitTask, reinterpret_cast<Callback>(implicit_task));
  set(kSyncRegionWait, reinterpret_cast<Callback>(sync_region_wait));
  set(kTaskSchedule, reinterpret_cast<Callback>(task_schedule));
  return 1;
}

void finalize(Data* /*tool*/) {}

}  // namespace

std::vector<std::int64_t> omp_work_ns() {
  std::vector<std::int64_t> work_ns;
  const std::lock_guard lock(threads().mutex);
  for (const OmpThread& thread : threads().all)
    if (thread.worked_ns() > 0) work_ns.push_back(thread.worked_ns());
  return work_ns;
}

/// The OpenMP runtime calls this function before the first region. The runtime supports only one
/// tool. If another preloaded tool also defines this function and wants to start, the other tool is
/// started, and this one is not.
extern "C" __attribute__((visibility("default"))) void* ompt_start_tool(unsigned version,
                                                                        const char* runtime) {
  using StartTool = void* (*)(unsigned, const char*);
  static StartToolResult result{initialize, finalize, {}};
  if (const auto other = reinterpret_cast<StartTool>(::dlsym(RTLD_NEXT, "ompt_start_tool")))
    if (void* const started = other(version, runtime)) return started;
  return settings().output.empty() ? nullptr : &result;
}

}  // namespace poise::profile
