// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/guard.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <poll.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtimes/juggle/tuning.h"

namespace poise::juggle {

/// Counts the releases. In a release, the guard process restores the affinities while the balancer
/// is stopped.
struct Guard::Shared {
  std::atomic<std::uint32_t> releases;       // + 1 before and after each release; odd during one
  std::atomic<std::uint32_t> releases_seen;  // value of `releases` last seen by the balancer
};

/// One stored affinity, protected by a sequence lock: the guard may read it while the balancer
/// writes. What the guard has read is valid if `turn` has not changed meanwhile.
struct Guard::Slot {
  std::atomic<std::uint32_t> turn;  // incremented at each change; odd: the slot is occupied
  pid_t process, thread;
  std::uint64_t start_time;
};

namespace {

[[noreturn]] void fail_at(const char* step) {
  throw std::runtime_error(fmt::format("cannot {}: {}", step, std::strerror(errno)));
}

/// Closes all files except `kept`. If the system call close_range is missing, as in old kernels and
/// some containers, closes the files that /proc lists as open; trying all numbers up to the limit
/// of open files could mean a billion calls.
void close_others(int kept) {
  if (::syscall(SYS_close_range, 0U, static_cast<unsigned>(kept) - 1, 0U) == 0 &&
      ::syscall(SYS_close_range, static_cast<unsigned>(kept) + 1, ~0U, 0U) == 0)
    return;
  DIR* const files = ::opendir("/proc/self/fd");
  if (files == nullptr) return;
  std::vector<int> open;
  while (const dirent* const file = ::readdir(files)) open.push_back(std::atoi(file->d_name));
  ::closedir(files);
  for (const int fd : open)
    if (fd != kept) ::close(fd);
}

/// Detaches from the program's terminal, closes all files except `alive` (inherited pipes would
/// otherwise stay open after the program's end), and blocks signals.
void detach_from_program(int alive) {
  ::setsid();
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  ::prctl(PR_SET_NAME, "poise-guard");
  close_others(alive);
}

/// Waits for at most wait_ms milliseconds. Returns true if the other end of the pipe is closed.
bool is_closed(int pipe, int wait_ms) {
  pollfd end{pipe, 0, 0};
  return ::poll(&end, 1, wait_ms) > 0;
}

}  // namespace

void give_back(const OwnAffinity& own) {
  if (start_time_of(own.process, own.thread) != own.start_time) return;
  if (!set_affinity(own.thread, own.set) && errno == EINVAL) set_affinity(own.thread, every_cpu());
}

Guard::Guard()
    : words_per_mask_(affinity_words()),
      bytes_(sizeof(Shared) + alignof(Slot) +
             kMaxThreads * (sizeof(Slot) + words_per_mask_ * sizeof(CpuSet::Word))) {
  void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) fail_at("share memory with the guard");
  slots_ = static_cast<Slot*>(memory);
  masks_ = reinterpret_cast<CpuSet::Word*>(slots_ + kMaxThreads);
  shared_ = reinterpret_cast<Shared*>(masks_ + kMaxThreads * words_per_mask_);
  for (std::uint32_t i = kMaxThreads; i-- > 0;) free_.push_back(i);
  try {
    start();
  } catch (...) {
    ::munmap(memory, bytes_);
    throw;
  }
}

void Guard::start() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_at("make a pipe");
  const Descriptor read_end(ends[0]);
  alive_ = Descriptor(ends[1]);
  const pid_t balancer = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) fail_at("start the guard");
  if (pid_ == 0) watch(ends[0], balancer);
}

/// The main loop of the guard process.
void Guard::watch(int balancer_lives, pid_t balancer) {
  detach_from_program(balancer_lives);
  while (!is_closed(balancer_lives, kTuning.stop_check_ms)) {
    const bool has_released = shared_->releases != shared_->releases_seen;
    if (has_released || state_of(balancer) != 'T') continue;
    ++shared_->releases;
    give_all_kept_back();
    ++shared_->releases;
  }
  give_all_kept_back();
  ::_exit(0);
}

/// Called in the guard process, which has access to the shared memory only.
void Guard::give_all_kept_back() {
  for (std::uint32_t i = 0; i < kMaxThreads; ++i) {
    const std::uint32_t turn = slots_[i].turn.load(std::memory_order_acquire);
    if (turn % 2 == 0) continue;
    const OwnAffinity own = affinity_in(i);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (slots_[i].turn.load(std::memory_order_relaxed) == turn) give_back(own);
  }
}

OwnAffinity Guard::affinity_in(std::uint32_t slot) const {
  const Slot& kept = slots_[slot];
  const CpuSet::Word* const mask = mask_of(slot);
  return {kept.process, kept.thread, kept.start_time,
          CpuSet::of_words({mask, mask + words_per_mask_})};
}

CpuSet::Word* Guard::mask_of(std::uint32_t slot) const { return masks_ + slot * words_per_mask_; }

Guard::~Guard() {
  give_all_back();
  alive_ = Descriptor();
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  ::munmap(slots_, bytes_);
}

// After a failed restart pid_ is -1. In this case waitpid() is not called, because waitpid(-1)
// would wait for any child, such as the program.
bool Guard::has_died() const { return pid_ < 0 || ::waitpid(pid_, nullptr, WNOHANG) != 0; }

void Guard::restart() {
  if (shared_->releases % 2 != 0) ++shared_->releases;
  start();
}

bool Guard::keep(std::uint64_t key, const OwnAffinity& own) {
  const auto words = own.set.words();
  if (free_.empty() || words.size() > words_per_mask_) return false;
  const std::uint32_t i = free_.back();
  free_.pop_back();
  slot_of_[key] = i;
  slots_[i].process = own.process;
  slots_[i].thread = own.thread;
  slots_[i].start_time = own.start_time;
  std::fill_n(mask_of(i), words_per_mask_, 0);
  std::copy(words.begin(), words.end(), mask_of(i));
  slots_[i].turn.fetch_add(1, std::memory_order_release);
  return true;
}

void Guard::drop(std::uint64_t key) {
  const auto slot = slot_of_.find(key);
  if (slot == slot_of_.end()) return;
  // The slot is marked as free before another thread's affinity is written to it.
  slots_[slot->second].turn.fetch_add(1, std::memory_order_seq_cst);
  free_.push_back(slot->second);
  slot_of_.erase(slot);
}

std::optional<OwnAffinity> Guard::kept(std::uint64_t key) const {
  const auto slot = slot_of_.find(key);
  return slot == slot_of_.end() ? std::nullopt : std::optional(affinity_in(slot->second));
}

void Guard::give_all_back() {
  for (const auto& [key, slot] : slot_of_) give_back(affinity_in(slot));
  while (!slot_of_.empty()) drop(slot_of_.begin()->first);
}

Guard::Release Guard::release() {
  const std::uint32_t releases = shared_->releases;
  if (releases == shared_->releases_seen) return Release::none;
  if (releases % 2 != 0) return Release::under_way;
  shared_->releases_seen = releases;
  return Release::done;
}

}  // namespace poise::juggle
