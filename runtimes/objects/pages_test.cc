// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/pages.h"

#include <array>
#include <gtest/gtest.h>
#include <map>
#include <unistd.h>
#include <vector>

namespace poise::objects {
namespace {

// A stub of the kernel: the domain of each page, and which calls fail.
std::map<void*, int> domain_of;
bool can_ask = true, can_move = true;
int here = 2;

long stub(std::size_t count, void* const* pages, const int* nodes, int* status) {
  if (nodes ? !can_move : !can_ask) return -1;
  for (std::size_t i = 0; i < count; ++i) {
    const auto found = domain_of.find(pages[i]);
    if (found == domain_of.end()) {
      status[i] = -2;  // ENOENT: never accessed
      continue;
    }
    if (nodes) found->second = nodes[i];
    status[i] = found->second;
  }
  return 0;
}

constexpr PageCalls kStub{stub, [] { return here; }};

class BringPages : public testing::Test {
 protected:
  BringPages() : size_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), bytes_(6 * size_) {
    domain_of.clear();
    can_ask = can_move = true;
    here = 2;
    void* start = bytes_.data();
    std::size_t space = bytes_.size();
    first_ = static_cast<std::byte*>(std::align(size_, 5 * size_, start, space));
  }
  // Puts page i of an aligned area into domains[i]. -1: the page has never been accessed.
  void place(std::initializer_list<int> domains) {
    std::size_t i = 0;
    for (const int domain : domains) {
      if (domain >= 0) domain_of[first_ + i * size_] = domain;
      ++i;
    }
  }
  PageCounts bring(std::size_t from, std::size_t bytes) {
    const std::array memory{std::span(first_ + from, bytes)};
    return bring_pages(memory, kStub);
  }
  std::size_t size_;
  std::vector<std::byte> bytes_;
  std::byte* first_ = nullptr;
};

TEST_F(BringPages, moves_only_pages_that_are_in_other_domains_and_have_been_accessed) {
  place({0, 2, 3, -1, 2});
  const PageCounts counts = bring(0, 5 * size_);
  EXPECT_EQ(counts.moved, 2);
  EXPECT_EQ(counts.here, 2);
  EXPECT_EQ(counts.stayed, 0);
  for (const auto& [page, domain] : domain_of) EXPECT_EQ(domain, 2);
  EXPECT_EQ(bring(0, 5 * size_).here, 4);
}

TEST_F(BringPages, moves_no_page_that_the_memory_range_covers_only_partly) {
  place({0, 0, 0, 0, 0});
  EXPECT_EQ(bring(8, 3 * size_).moved, 2);
  EXPECT_EQ(domain_of[first_], 0);
  EXPECT_EQ(domain_of[first_ + size_], 2);
  EXPECT_EQ(domain_of[first_ + 3 * size_], 0);
}

TEST_F(BringPages, moves_no_page_if_the_kernel_refuses_or_the_thread_has_no_known_numa_domain) {
  place({0, 0, 2});
  can_move = false;
  EXPECT_EQ(bring(0, 3 * size_).stayed, 2);
  can_ask = false;
  EXPECT_EQ(bring(0, 3 * size_).stayed, 0);
  can_ask = can_move = true;
  here = -1;
  EXPECT_EQ(bring(0, 3 * size_).moved, 0);
  EXPECT_EQ(domain_of[first_], 0);
}

TEST(BringPagesByTheKernel, counts_no_more_pages_than_the_memory_range_contains) {
  std::vector<std::byte> bytes(1 << 20, std::byte{1});
  const std::array memory{std::span<std::byte>(bytes)};
  const PageCounts counts = bring_pages(memory);
  EXPECT_LE(counts.here + counts.moved + counts.stayed, bytes.size() / 4096);
  EXPECT_EQ(bytes.back(), std::byte{1});
}

}  // namespace
}  // namespace poise::objects
