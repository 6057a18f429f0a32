// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/first_to_finish.h"

#include <gtest/gtest.h>
#include <utility>

#include "poise/base/random.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

PlaceId scan(const Machine& machine, const std::vector<double>& busy_s, double load_s) {
  PlaceId best = 0;
  const auto rank = [&](PlaceId p) {
    return std::pair{busy_s[p] + load_s / machine.speed_of(p), p};
  };
  for (PlaceId p = 1; p < machine.num_places(); ++p)
    if (rank(p) < rank(best)) best = p;
  return best;
}

TEST(FirstToFinish, finds_the_same_place_as_a_full_search_whether_or_not_speeds_differ) {
  for (const char* text : {"core:1", "core:7", "core:9 speeds:1,0.5", "core:12 speeds:4,1,2,1,3"}) {
    SCOPED_TRACE(text);
    const Machine machine = machine_from_text(text);
    Random random(1);
    std::vector<double> busy_s(machine.num_places());
    for (double& value : busy_s) value = static_cast<double>(random.below(3));
    FirstToFinish places(machine, busy_s);
    for (int i = 0; i < 500; ++i) {
      const auto load_s = static_cast<double>(random.below(4));
      const PlaceId best = places.with(load_s);
      ASSERT_EQ(best, scan(machine, busy_s, load_s));
      busy_s[best] += load_s / machine.speed_of(best);
      places.add(best, load_s / machine.speed_of(best));
      ASSERT_EQ(places.busy_s(best), busy_s[best]);
    }
  }
}

TEST(FirstToFinish, chooses_one_of_the_four_fastest_among_a_hundred_idle_places) {
  MachineParts parts = machine_from_text("core:100").parts();
  for (PlaceId p = 0; p < 100; ++p) parts.places[p].speed = 1 + p;
  const Machine machine(parts);
  const FirstToFinish idle(machine, std::vector<double>(100, 0));
  // The search treats groups of three or four places of similar speed as equally fast. So it may
  // choose a place that is slower than the fastest place, but by at most 4 %.
  EXPECT_GE(machine.speed_of(idle.with(1)), 97);
}

}  // namespace
}  // namespace poise
