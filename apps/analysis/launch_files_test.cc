// SPDX-License-Identifier: BSD-3-Clause

#include "apps/analysis/launch_files.h"

#include <gtest/gtest.h>

#include "poise/base/error.h"
#include "poise/machine/text.h"

namespace poise::apps {
namespace {

TEST(LaunchFiles,
     in_a_map_file_for_cray_only_the_last_node_may_have_fewer_ranks_than_the_other_nodes) {
  const Machine machine = machine_from_text("node:3 core:2");
  const auto plan = [&](std::vector<PlaceId> places) {
    const Placement placement(std::move(places));
    return launch_plan({machine, placement, {}, {}}, Launcher::cray, "order");
  };
  EXPECT_EQ(plan({0, 2, 3, 1, 4}).files[0].text, "0,3,1,2,4\n");
  EXPECT_THROW(plan({0, 2, 3, 4}), Error);  // node 0 has 1 rank, but node 1 has 2
  EXPECT_THROW(plan({0, 2, 3}), Error);     // the last node has more ranks than node 0
}

}  // namespace
}  // namespace poise::apps
