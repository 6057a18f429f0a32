// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/pages.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace poise::objects {

namespace {

constexpr int kMoveOwnPages = 1 << 1;  // MPOL_MF_MOVE: pages that no other process maps

long move_own_pages(std::size_t count, void* const* pages, const int* nodes, int* status) {
  return syscall(SYS_move_pages, 0, count, pages, nodes, status, kMoveOwnPages);
}

/// True if Linux lists several NUMA domains for this host, for example as "0-3" or "0,8".
bool has_domains() {
  std::ifstream file("/sys/devices/system/node/online");
  std::string online;
  return file >> online && online.find_first_of("-,") != std::string::npos;
}

int domain_of_thread() {
  static const bool has_several = has_domains();
  if (!has_several) return -1;
  unsigned cpu = 0, node = 0;
  return syscall(SYS_getcpu, &cpu, &node, nullptr) == 0 ? static_cast<int>(node) : -1;
}

std::vector<void*> pages_in(std::span<const std::span<std::byte>> memory) {
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<void*> pages;
  for (const std::span<std::byte> part : memory) {
    const std::size_t skipped =
        (size - reinterpret_cast<std::uintptr_t>(part.data()) % size) % size;
    for (std::size_t at = skipped; at + size <= part.size(); at += size)
      pages.push_back(part.data() + at);
  }
  return pages;
}

}  // namespace

const PageCalls kKernelPages{move_own_pages, domain_of_thread};

PageCounts bring_pages(std::span<const std::span<std::byte>> memory, const PageCalls& calls) {
  PageCounts counts;
  const int domain = calls.domain();
  std::vector<void*> pages = pages_in(memory);
  std::vector<int> status(pages.size(), -1);
  if (domain < 0 || pages.empty() ||
      calls.move_pages(pages.size(), pages.data(), nullptr, status.data()) < 0)
    return counts;
  std::vector<void*> away;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    if (status[i] == domain) ++counts.here;
    if (status[i] >= 0 && status[i] != domain) away.push_back(pages[i]);
  }
  if (away.empty()) return counts;
  const std::vector<int> nodes(away.size(), domain);
  calls.move_pages(away.size(), away.data(), nodes.data(), status.data());
  // Asks the kernel where the pages are now, because the call that moves pages does not set the
  // status of all of them.
  status.assign(away.size(), -1);
  if (calls.move_pages(away.size(), away.data(), nullptr, status.data()) >= 0)
    counts.moved = static_cast<std::size_t>(std::ranges::count(status, domain));
  counts.stayed = away.size() - counts.moved;
  return counts;
}

}  // namespace poise::objects
