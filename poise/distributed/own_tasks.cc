// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/own_tasks.h"

#include <cmath>
#include <limits>

#include "poise/base/error.h"
#include "poise/workload/checks.h"

namespace poise {

namespace {

/// These limits are the same as for workloads on one rank. kMaxCount limits each count, and also
/// the sum of the counts in an array, so that sums do not overflow.
constexpr double kMaxSeconds = 1e15;
constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 53;

void check_size(std::size_t size, std::size_t wanted, const char* name, bool is_optional) {
  if (size != wanted && !(is_optional && size == 0))
    fail("{} has {} entries; it needs {}", name, size, wanted);
}

void check_counts(std::span<const std::uint64_t> values, const char* name) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] > kMaxCount) fail("{}[{}] is {}; it must be at most 2^53", name, i, values[i]);
  checked_sum(0, values, name);
}

void check_rows(const OwnTasks& own) {
  if (own.first.empty()) {
    if (!own.to.empty()) fail("indptr is missing, but there are {} neighbours", own.to.size());
    return;
  }
  check_size(own.first.size(), own.ids.size() + 1, "indptr", false);
  if (own.first.front() != 0) fail("indptr[0] is {}; it must be 0", own.first.front());
  for (std::size_t t = 1; t < own.first.size(); ++t)
    if (own.first[t] < own.first[t - 1])
      fail("indptr[{}] is {}, less than the entry before it; entries must not decrease", t,
           own.first[t]);
  if (own.first.back() != own.to.size())
    fail("indptr ends with {}, but there are {} neighbours", own.first.back(), own.to.size());
}

}  // namespace

void check(const OwnTasks& own, std::uint32_t num_ranks) {
  if (own.ids.size() > std::numeric_limits<std::int32_t>::max())
    fail("there are {} tasks on this rank; there can be at most 2^31 - 1", own.ids.size());
  check_size(own.load_s.size(), own.ids.size(), "load_s", false);
  check_size(own.bytes.size(), own.ids.size(), "bytes", true);
  check_size(own.pinned.size(), own.ids.size(), "pinned", true);
  check_rows(own);
  check_size(own.to_rank.size(), own.to.size(), "neighbour ranks", true);
  check_size(own.counts.size(), own.to.size(), "counts", true);
  check_size(own.message_bytes.size(), own.to.size(), "message bytes", true);
  for (std::size_t t = 0; t < own.load_s.size(); ++t)
    if (!(own.load_s[t] >= 0 && own.load_s[t] <= kMaxSeconds))
      fail("load_s[{}] is {}; it must be from 0 to {}", t, own.load_s[t], kMaxSeconds);
  if (!(own.background_s >= 0 && own.background_s <= kMaxSeconds))
    fail("background_s is {}; it must be from 0 to {}", own.background_s, kMaxSeconds);
  for (std::size_t i = 0; i < own.to_rank.size(); ++i)
    if (own.to_rank[i] >= num_ranks)
      fail("the rank of neighbour {} is {}, but there are only {} ranks", i,
           static_cast<std::int32_t>(own.to_rank[i]), num_ranks);
  check_counts(own.bytes, "bytes");
  check_counts(own.counts, "counts");
  check_counts(own.message_bytes, "message bytes");
}

}  // namespace poise
