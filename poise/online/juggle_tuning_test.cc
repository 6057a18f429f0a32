// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/juggle_tuning.h"

#include <gtest/gtest.h>
#include <set>

#include "poise/base/error.h"
#include "poise/online/juggle_team.h"
#include "poise/online/simulated_cpus.h"

namespace poise {
namespace {

TEST(JuggleTuning,
     every_tuning_number_has_a_unique_name_and_a_unit_and_a_reason_and_a_value_in_its_range) {
  std::set<std::string_view> names;
  for (const Knob& knob : kJuggleKnobs) {
    EXPECT_TRUE(names.insert(knob.name).second) << knob.name;
    EXPECT_LE(knob.min, knob.initial) << knob.name;
    EXPECT_GE(knob.max, knob.initial) << knob.name;
    EXPECT_FALSE(knob.unit.empty()) << knob.name;
    EXPECT_FALSE(knob.help.empty()) << knob.name;
  }
}

TEST(JuggleTuning, a_tuning_number_is_set_by_its_name_and_all_others_keep_their_values) {
  const JuggleTuning tuning = juggle_tuning_from("noise=0.1,enough_windows=8");
  EXPECT_EQ(tuning.noise, 0.1);
  EXPECT_EQ(tuning.enough_windows, 8U);
  EXPECT_EQ(tuning.watch_s, JuggleTuning().watch_s);
  EXPECT_EQ(juggle_tuning_from("").noise, JuggleTuning().noise);
}

TEST(JuggleTuning,
     refuses_unknown_names_and_values_with_which_sleeping_threads_cannot_be_detected) {
  for (const auto* changes : {"noice=0.1", "noise", "noise=0.5", "noise=0.2,min_window_s=0.02"})
    EXPECT_THROW(juggle_tuning_from(changes), Error) << changes;
}

TEST(JuggleTuning, balancing_decisions_follow_a_changed_tuning_number) {
  const auto orders = [](const char* changes) {
    JuggleTeam team({.tuning = juggle_tuning_from(changes)}, std::vector<JugglePlace>(2));
    SimulatedCpus cpus(team, 2);
    cpus.add_program(0.1, SimulatedWait::sleep, {{0}, {0}, {1}});
    cpus.run_until(5);
    return cpus.orders;
  };
  EXPECT_GT(orders(""), 0);
  EXPECT_EQ(orders("enough_windows=1000"), 0);
}

}  // namespace
}  // namespace poise
