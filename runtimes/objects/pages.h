// SPDX-License-Identifier: BSD-3-Clause
// Moves the memory of objects to the NUMA domain in which it is used. The system allocates a page
// in the domain of the core that accesses it first. So the pages of an object that has migrated to
// another rank are in the right domain. But if a rank moves to a core of another domain, the pages
// of its objects stay in the old domain.
#pragma once

#include <cstddef>
#include <span>

namespace poise::objects {

/// The system calls move_pages() and getcpu(), which tests replace with stubs.
struct PageCalls {
  /// Like move_pages(2) for this process. If `nodes` is null, only returns where the pages are.
  long (*move_pages)(std::size_t count, void* const* pages, const int* nodes, int* status);
  /// The domain of this thread's core, or -1 if the domain is unknown or the host has only one
  /// domain.
  int (*domain)();
};
extern const PageCalls kKernelPages;

struct PageCounts {
  std::size_t here = 0;    // pages that were in the domain of this thread already
  std::size_t moved = 0;   // pages that came from other domains
  std::size_t stayed = 0;  // pages that the kernel did not move
};

/// Moves all pages that lie completely in `memory` and are in another domain to the domain of this
/// thread. Pages that have never been accessed are not counted. Never fails: if the kernel lacks or
/// forbids a system call, the pages stay where they are.
PageCounts bring_pages(std::span<const std::span<std::byte>> memory,
                       const PageCalls& calls = kKernelPages);

}  // namespace poise::objects
