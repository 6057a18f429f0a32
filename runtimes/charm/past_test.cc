// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/past.h"

#include <gmock/gmock.h>
#include <limits>

#include "poise/base/error.h"

namespace poise::charm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<ObjectName> kTwo = {{7, 1}, {~std::uint64_t{0}, -3}};

Past two_decisions() {
  Past past;
  past.num_decisions = 5;
  past.add(kTwo, {1, 2}, 10);
  past.add(kTwo, {3, 4, 0}, 10);  // the third task is a sending PE
  return past;
}

TEST(Past, past_loads_stay_with_their_objects_when_the_order_of_objects_changes) {
  Past past = two_decisions();
  EXPECT_THAT(past.loads_of(kTwo, 3), ElementsAre(ElementsAre(1, 2, 0), ElementsAre(3, 4, 0)));
  EXPECT_THAT(past.loads_of({{7, 1}}, 1), IsEmpty());
  EXPECT_THAT(past.loads_of(kTwo, 2), IsEmpty()) << "the past ended when an object was missing";
}

constexpr std::uint64_t on_pe(std::uint64_t pe, std::uint64_t index) { return pe << 16 | index; }

TEST(Past, recognises_objects_after_a_restart_on_other_pes) {
  Past past;
  past.add({{on_pe(0, 0), 4}, {on_pe(0, 2), 4}, {on_pe(1, 1), 4}}, {1, 2, 3}, 5);
  const std::vector<ObjectName> now = {{on_pe(0, 1), 4}, {on_pe(1, 2), 4}, {on_pe(2, 0), 4}};
  EXPECT_THAT(Past(past).loads_of(now, 3), IsEmpty()) << "each bit counts";
  EXPECT_THAT(past.loads_of(now, 3, 16), ElementsAre(ElementsAre(3, 2, 1)));
  EXPECT_THAT(past.loads_of(now, 3, 16), ElementsAre(ElementsAre(3, 2, 1)));
  EXPECT_THAT(past.loads_of({now[0], now[1], {on_pe(2, 7), 4}}, 3, 16), IsEmpty());
}

TEST(Past, distinguishes_objects_whose_ids_differ_only_in_the_pe) {
  // An object's id contains a PE and an index, and a restart changes the PEs. The two objects of
  // array 4 have different indices, so Past recognises them under their new ids. The two objects of
  // array 5 have the same index, so Past recognises them only if their ids are unchanged.
  Past past;
  past.add({{on_pe(0, 0), 4}, {on_pe(0, 1), 4}, {on_pe(0, 0), 5}, {on_pe(1, 0), 5}}, {1, 2, 3, 4},
           5);
  EXPECT_THAT(Past(past).loads_of(
                  {{on_pe(0, 1), 4}, {on_pe(1, 0), 4}, {on_pe(0, 0), 5}, {on_pe(1, 0), 5}}, 4, 16),
              ElementsAre(ElementsAre(2, 1, 3, 4)));
  EXPECT_THAT(past.loads_of(
                  {{on_pe(0, 1), 4}, {on_pe(1, 0), 4}, {on_pe(0, 0), 5}, {on_pe(2, 0), 5}}, 4, 16),
              IsEmpty());
}

TEST(Past, keeps_only_the_loads_of_the_most_recent_decisions) {
  Past past = two_decisions();
  past.add(kTwo, {5, 6}, 2);
  EXPECT_THAT(past.loads_s, ElementsAre(ElementsAre(3, 4), ElementsAre(5, 6)));
  past.add(kTwo, {7, 8}, 0);
  EXPECT_THAT(past.loads_s, IsEmpty());
}

TEST(Past, recorded_loads_are_unchanged_after_writing_and_reading_a_checkpoint) {
  Past past = from_checkpoint(to_checkpoint(two_decisions()));
  EXPECT_EQ(past.num_decisions, 5u);
  EXPECT_THAT(past.loads_of(kTwo, 2), ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4)));
  EXPECT_EQ(from_checkpoint(to_checkpoint(Past())).num_decisions, 0u);
}

TEST(Past, refuses_bytes_that_are_not_a_checkpoint) {
  const std::vector<char> good = to_checkpoint(two_decisions());
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes)
    EXPECT_THROW(from_checkpoint({good.begin(), good.begin() + static_cast<long>(bytes)}), Error);
  std::vector<char> longer = good, another = good;
  longer.push_back(0);
  another[0] ^= 1;
  EXPECT_THROW(from_checkpoint(longer), Error);
  EXPECT_THROW(from_checkpoint(another), Error);
  Past nonsense = two_decisions();
  nonsense.loads_s[1][0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(from_checkpoint(to_checkpoint(nonsense)), Error);
  nonsense = two_decisions();
  nonsense.loads_s[0].push_back(1);
  EXPECT_THROW(from_checkpoint(to_checkpoint(nonsense)), Error);
}

}  // namespace
}  // namespace poise::charm
