// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/migration.h"

#include <gmock/gmock.h>

#include "poise/machine/text.h"

namespace poise::objects {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

/// The layout of a job with three ranks, as rank `rank` sees it: rank 0 has two places, the others
/// have one each.
JobLayout layout_of(int rank) {
  JobLayout layout;
  layout.rank = rank;
  layout.num_ranks = 3;
  layout.machine = flat_machine(4);
  layout.rank_of_place = {0, 0, 1, 2};
  layout.places_of_rank = {{0, 1}, {2}, {3}};
  return layout;
}

MigrationPlan plan_of(int rank) {
  const JobLayout layout = layout_of(rank);
  const ObjectDirectory directory(layout, Placement({0, 0, 1, 2, 2, 3}));
  return plan_migrations(directory, Placement({1, 2, 3, 2, 0, 3}));
}

TEST(MigrationPlan, lists_the_leaving_objects_by_destination) {
  EXPECT_THAT(plan_of(0).leaving, ElementsAre(Pair(1, ElementsAre(1u)), Pair(2, ElementsAre(2u))));
  EXPECT_THAT(plan_of(1).leaving, ElementsAre(Pair(0, ElementsAre(4u))));
  EXPECT_THAT(plan_of(2).leaving, IsEmpty());
}

TEST(MigrationPlan, lists_the_new_places_of_the_objects_that_a_rank_has_after_the_migration) {
  EXPECT_THAT(plan_of(0).places, ElementsAre(1u, 0u));
  EXPECT_THAT(plan_of(1).places, ElementsAre(2u, 2u));
  EXPECT_THAT(plan_of(2).places, ElementsAre(3u, 3u));
}

TEST(MigrationPlan, counts_the_arriving_objects) {
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(plan_of(rank).num_arriving, 1u);
}

TEST(MigrationPlan, counts_migrations_between_ranks_but_not_within_a_rank) {
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(plan_of(rank).num_migrations, 3u);
}

}  // namespace
}  // namespace poise::objects
