// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/slowest_resources.h"

#include <gtest/gtest.h>

#include "poise/base/random.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

TEST(SlowestResources, are_the_first_slowest_ones_that_a_message_crosses) {
  for (const char* text : {
           "numa:3 core:2 factors:2,1 bus:1e5",
           "rack:2 node:2 numa:2 core:1 factors:9,5,2,1 bus:1e6 bandwidth:3e5 gap:1e-3 uplink:1e5",
           "node:3 core:2 bandwidth:0 shared_network:1e5",
           "node:3 numa:2 core:1 factors:9,2,1 bus:0 gap:1e-3",
           "torus:3x2 core:2 shared_network:1e5",
       }) {
    SCOPED_TRACE(text);
    const Machine machine = machine_from_text(text);
    const Resources resources(machine, machine.costs());
    Random random(1);
    for (int draw = 0; draw < 20; ++draw) {
      // Few different times, so that many resources are equally slow.
      std::vector<double> seconds(resources.count());
      for (double& of_resource : seconds) of_resource = static_cast<double>(random.below(3));
      const SlowestResources slowest(machine, resources, seconds);
      for (DomainId from = 0; from < machine.num_domains(); ++from)
        for (DomainId to = 0; to < machine.num_domains(); ++to) {
          double most_s = 0;
          ResourceId first = 0;
          resources.for_each_crossed(from, to, [&](ResourceId r, double, double) {
            if (seconds[r] <= most_s) return;
            most_s = seconds[r];
            first = r;
          });
          EXPECT_EQ(slowest.of(from, to).seconds, most_s);
          EXPECT_EQ(slowest.of(from, to).resource, first);
        }
    }
  }
}

}  // namespace
}  // namespace poise
