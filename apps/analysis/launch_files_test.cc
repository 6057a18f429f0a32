// SPDX-License-Identifier: BSD-3-Clause

#include "apps/analysis/launch_files.h"

#include <gtest/gtest.h>

#include "poise/base/error.h"
#include "poise/machine/text.h"

namespace poise::apps {
namespace {

TEST(LaunchFiles, the_map_file_for_cray_needs_the_same_number_of_ranks_on_every_node_but_the_last) {
  const Machine machine = machine_from_text("node:3 core:2");
  const auto plan = [&](std::vector<PlaceId> places) {
    const Placement placement(std::move(places));
    return launch_plan({machine, placement, {}, {}}, Launcher::cray, "order");
  };
  EXPECT_EQ(plan({0, 2, 3, 1, 4}).files[0].text, "0,3,1,2,4\n");
  EXPECT_THROW(plan({0, 2, 3, 4}), Error);  // the nodes have 1, 2 and 1 ranks
  EXPECT_THROW(plan({0, 2, 3}), Error);     // the nodes have 1 and 2 ranks
}

}  // namespace
}  // namespace poise::apps
