// SPDX-License-Identifier: BSD-3-Clause
// For tests of strategies that call a library: a grid to place, and a fixture that skips the tests
// if this build lacks the library.
#pragma once

#include <gtest/gtest.h>
#include <string_view>

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/strategies/example_testing.h"

namespace poise {

/// A square grid of tasks with loads around 1 s and 1,000 bytes of data each, placed round-robin.
inline Example grid(const char* machine, TaskId side) {
  Random random(side);
  Example made{machine_from_text(machine), {}, {}};
  for (TaskId t = 0; t < side * side; ++t) {
    made.workload.tasks.push_back({random.uniform(0.5, 1.5), 1000});
    if (t % side + 1 < side) made.workload.messages.push_back({t, t + 1, 1, 10});
    if (t + side < side * side) made.workload.messages.push_back({t, t + side, 1, 10});
  }
  made.current = round_robin(side * side, made.machine.num_places());
  return made;
}

/// Skips the tests of a strategy that this build lacks.
class LibraryTest : public testing::Test {
 protected:
  explicit LibraryTest(const char* strategy) : strategy_(strategy) {}

  void SetUp() override {
    try {
      grid("core:2", 2).placed(strategy_);
    } catch (const Error& error) {
      if (std::string_view(error.what()).find("built without") == std::string_view::npos) throw;
      GTEST_SKIP() << error.what();
    }
  }

 private:
  const char* strategy_;
};

}  // namespace poise
