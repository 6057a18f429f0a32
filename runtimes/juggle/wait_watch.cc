// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/wait_watch.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <linux/futex.h>
#include <random>
#include <stdexcept>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtimes/juggle/tuning.h"

#include "poise/base/clock.h"

namespace poise::juggle {

namespace {

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr,
                   nullptr, 0);
}

[[noreturn]] void fail_at(const char* step) {
  throw std::runtime_error(fmt::format("cannot {}: {}", step, std::strerror(errno)));
}

void sleep_for(double seconds) {
  const timespec time{0, static_cast<long>(seconds * 1e9)};
  ::nanosleep(&time, nullptr);
}

}  // namespace

WaitWatch::WaitWatch(const std::string& library)
    : library_(library),
      file_(::memfd_create(std::strrchr(kWaitsMemory, ':') + 1, MFD_CLOEXEC)),
      news_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (::access(library.c_str(), R_OK) != 0) fail_at("read libpoise_juggle_waits.so");
  if (library.find_first_of(" :") != std::string::npos)  // blank and colon end a path in LD_PRELOAD
    throw std::runtime_error(
        fmt::format("programs cannot load {}, because the path contains a blank or a colon; "
                    "install Poise in another folder",
                    library));
  if (!file_ || ::ftruncate(file_.get(), sizeof(WaitTable)) != 0) fail_at("share memory");
  if (!news_) fail_at("create a descriptor for events");
  void* const memory =
      ::mmap(nullptr, sizeof(WaitTable), PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (memory == MAP_FAILED) fail_at("share memory");
  table_ = static_cast<WaitTable*>(memory);  // new memory is zero: an empty table
  std::random_device random;
  table_->key = (std::uint64_t{random()} << 32) | random();
  try {
    listener_ = std::thread([this] { listen(); });
  } catch (...) {
    ::munmap(memory, sizeof(WaitTable));
    throw;
  }
}

WaitWatch::~WaitWatch() {
  is_over_ = true;
  table_->has_news = 1;
  futex(table_->has_news, FUTEX_WAKE, 1);
  listener_.join();
  ::munmap(table_, sizeof(WaitTable));
}

Environment WaitWatch::environment() const {
  const char* const others = std::getenv("LD_PRELOAD");
  const bool has_others = others != nullptr && *others != '\0';
  return {
      {"LD_PRELOAD", has_others ? fmt::format("{}:{}", library_, others) : library_},
      {kWaitsVariable, fmt::format("/proc/{}/fd/{}:{:x}", ::getpid(), file_.get(), table_->key)}};
}

/// Makes the descriptor readable when threads have begun to wait, but at most once per
/// kTuning.min_news_s seconds.
void WaitWatch::listen() {
  while (!is_over_) {
    while (table_->has_news.load() == 0) futex(table_->has_news, FUTEX_WAIT, 0);
    table_->has_news = 0;
    ::eventfd_write(news_.get(), 1);
    sleep_for(kTuning.min_news_s);
  }
}

void WaitWatch::take_news() {
  eventfd_t count;
  ::eventfd_read(news_.get(), &count);
}

std::optional<WaitReport> WaitWatch::report_of(pid_t thread) const {
  const WaitSlot* const slot = slot_of(*table_, thread, false);
  if (slot == nullptr) return {};
  const auto since_ns = wall_now_ns() - slot->yield_ns.load(std::memory_order_relaxed);
  return WaitReport{slot->is_inside.load(std::memory_order_acquire), 1e-9 * since_ns};
}

void WaitWatch::forget(pid_t thread) {
  if (WaitSlot* const slot = slot_of(*table_, thread, false)) slot->thread.store(0);
}

}  // namespace poise::juggle
