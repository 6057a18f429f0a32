// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/function.h"

#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

namespace poise::profile {
namespace {

#define POISE_MPI_C(function, arity, time, what, ...) \
  {.name = #function, .kind = Kind::time, .meaning = Meaning::what __VA_OPT__(, ) __VA_ARGS__},
#define POISE_MPI(function, lower, c_arity, fortran_arity, time, what, ...) \
  POISE_MPI_C(function, c_arity, time, what __VA_OPT__(, ) __VA_ARGS__)

const std::vector<Function> kFunctions = {
#include "runtimes/profile/functions.inc"
};

TEST(function, polls_are_the_functions_that_only_ask_whether_something_has_happened) {
  std::set<std::string> polls;
  for (const Function& function : kFunctions)
    if (is_poll(function)) polls.insert(function.name);
  EXPECT_EQ(polls, (std::set<std::string>{"Improbe", "Iprobe", "Parrived", "Request_get_status",
                                          "Request_get_status_all", "Request_get_status_any",
                                          "Request_get_status_some", "Test", "Testall", "Testany",
                                          "Testsome", "Win_test"}));
}

}  // namespace
}  // namespace poise::profile
