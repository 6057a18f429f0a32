// SPDX-License-Identifier: BSD-3-Clause
// Tests that ranks bound to memory domains lend to near ranks first.
#include "runtimes/tasks/transport/locality.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>
#include <thread>

#include "runtimes/tasks/context.h"
#include "tests/tasks/ranks.h"

namespace poise::tasks {
namespace {

const auto kDoze =
    function("doze", [](int us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); });

// Even ranks are in one domain, odd ranks in the other.
TEST(Domains, a_rank_lends_first_to_ranks_of_its_own_numa_domain) {
  const auto units = allowed_units();
  if (units.size() < 2) GTEST_SKIP() << "needs two processing units";
  if (!std::getenv("HWLOC_SYNTHETIC")) GTEST_SKIP() << "needs --domains";
  const int rank = own_rank();
  bind_to({units[static_cast<std::size_t>(rank % 2)]});
  std::set<std::uint32_t> seen;
  Policy policy;
  policy.decide = [&](const LendingView& view) {
    for (const Borrower& other : view.others) {
      seen.insert(other.rank);
      EXPECT_EQ(other.distance, (other.rank + view.rank) % 2 == 0 ? 1 : 1.5) << other.rank;
    }
    const auto loans = cost_aware_loans(view, 0);
    EXPECT_TRUE(std::is_sorted(loans.begin(), loans.end(), [&](const Loan& a, const Loan& b) {
      return (a.rank + view.rank) % 2 < (b.rank + view.rank) % 2;
    }));
    return loans;
  };
  {
    Context context(MPI_COMM_WORLD, {.settings = "progress_thread=off", .policy = policy});
    for (int t = 0; t < 400 && rank == 0; ++t) context.submit(kDoze, 1000);
    context.wait();
  }
  bind_to(units);
  if (rank > 0) return;
  EXPECT_FALSE(seen.empty());  // some ranks may be missing: a rank that runs late gets no task
}

}  // namespace

void pretend_two_domains() {
  const auto units = allowed_units();
  if (units.size() < 2) return;
  ::setenv("HWLOC_SYNTHETIC",
           fmt::format("numa:2 core:1 pu:1(indexes={},{})", units[0], units[1]).c_str(), 1);
}

}  // namespace poise::tasks
