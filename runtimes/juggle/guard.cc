#include "runtimes/juggle/guard.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtimes/juggle/cpus.h"

namespace poise::juggle {

struct Guard::Slot {
  std::atomic<bool> is_kept;  // set last, cleared first: the balancer may die in between
  OwnAffinity own;
};

namespace {

[[noreturn]] void fail_at(const char* step) {
  throw std::runtime_error(fmt::format("cannot {}: {}", step, std::strerror(errno)));
}

/// Keeps nothing of the program's: no terminal, no pipe that would stay open, no signal.
void become_quiet(int alive) {
  ::setsid();
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  ::prctl(PR_SET_NAME, "poise-guard");
  const int last = static_cast<int>(::sysconf(_SC_OPEN_MAX));
  if (::syscall(SYS_close_range, 0U, static_cast<unsigned>(alive) - 1, 0U) == 0 &&
      ::syscall(SYS_close_range, static_cast<unsigned>(alive) + 1, ~0U, 0U) == 0)
    return;
  for (int fd = 0; fd < last; ++fd)
    if (fd != alive) ::close(fd);
}

}  // namespace

void give_back(const OwnAffinity& own) {
  if (start_time_of(own.process, own.thread) == own.start_time) set_affinity(own.thread, own.set);
}

Guard::Guard() {
  void* const memory = ::mmap(nullptr, kMaxThreads * sizeof(Slot), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) fail_at("share memory with the guard");
  slots_ = static_cast<Slot*>(memory);
  for (std::uint32_t i = kMaxThreads; i-- > 0;) free_.push_back(i);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_at("make a pipe");
  const Descriptor read_end(ends[0]);
  alive_ = Descriptor(ends[1]);
  pid_ = ::fork();
  if (pid_ < 0) fail_at("start the guard");
  if (pid_ > 0) return;
  become_quiet(ends[0]);
  char none;
  while (::read(ends[0], &none, 1) < 0 && errno == EINTR) {
  }
  for (std::size_t i = 0; i < kMaxThreads; ++i)
    if (slots_[i].is_kept.load(std::memory_order_acquire)) give_back(slots_[i].own);
  ::_exit(0);
}

Guard::~Guard() {
  give_all_back();
  alive_ = Descriptor();
  ::waitpid(pid_, nullptr, 0);
  ::munmap(slots_, kMaxThreads * sizeof(Slot));
}

bool Guard::keep(std::uint64_t key, const OwnAffinity& own) {
  if (free_.empty()) return false;
  const std::uint32_t i = free_.back();
  free_.pop_back();
  slot_of_[key] = i;
  slots_[i].own = own;
  slots_[i].is_kept.store(true, std::memory_order_release);
  return true;
}

void Guard::drop(std::uint64_t key) {
  const auto slot = slot_of_.find(key);
  if (slot == slot_of_.end()) return;
  slots_[slot->second].is_kept.store(false, std::memory_order_release);
  free_.push_back(slot->second);
  slot_of_.erase(slot);
}

const OwnAffinity* Guard::kept(std::uint64_t key) const {
  const auto slot = slot_of_.find(key);
  return slot == slot_of_.end() ? nullptr : &slots_[slot->second].own;
}

void Guard::give_all_back() {
  for (const auto& [key, slot] : slot_of_) give_back(slots_[slot].own);
  while (!slot_of_.empty()) drop(slot_of_.begin()->first);
}

}  // namespace poise::juggle
