// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/factor_table.h"

#include <gtest/gtest.h>

#include "poise/machine/text.h"

namespace poise {
namespace {

TEST(FactorTable, gives_the_same_cost_factors_as_the_machine_from_which_it_was_built) {
  for (const char* text :
       {"core:6", "l3:2 core:3 factors:1.2,1", "node:2 numa:2 l3:2 core:2 factors:20,2,1.2,1",
        "rack:2 node:2 numa:2 core:2 factors:20,10,1.5,1", "torus:3x3 numa:2 core:2",
        "node:130 numa:2 core:2", "node:2100 core:2"}) {
    SCOPED_TRACE(text);
    const Machine machine = machine_from_text(text);
    const FactorTable tabulated(machine);
    const FactorTable computed(machine, FactorTable::PairsOfNodes::computed);
    const PlaceId step = machine.num_places() > 100 ? 97 : 1;
    for (PlaceId from = 0; from < machine.num_places(); from += step)
      for (PlaceId to = 0; to < machine.num_places(); to += step)
        for (const FactorTable* factors : {&tabulated, &computed}) {
          ASSERT_EQ(factors->message(from, to), machine.message_factor(from, to));
          ASSERT_EQ(factors->byte(from, to), machine.byte_factor(from, to));
        }
  }
}

}  // namespace
}  // namespace poise
