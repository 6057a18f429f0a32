// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/pool/item.h"

#include <gtest/gtest.h>

namespace poise::tasks {
namespace {

TEST(Item, an_argument_of_a_task_keeps_its_address_and_its_length_and_its_access_mode) {
  int data = 0;
  for (const Mode mode : {Mode::in, Mode::out, Mode::inout, Mode::literal, Mode::result})
    for (const std::size_t bytes : {std::size_t{0}, sizeof data, (std::size_t{1} << 56) - 1}) {
      const Item item = Item::of(&data, bytes, mode);
      EXPECT_EQ(item.data, &data);
      EXPECT_EQ(item.bytes, bytes);
      EXPECT_EQ(item.mode, mode);
    }
}

}  // namespace
}  // namespace poise::tasks
