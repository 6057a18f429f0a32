// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/balance/run_record.h"

#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>

#include "poise/base/file.h"
#include "poise/machine/text.h"

namespace poise::balance {
namespace {

TEST(RunRecord, a_log_keeps_the_lines_of_several_records_that_write_it_at_the_same_time) {
  const std::string path = testing::TempDir() + "poise_run_record_test.log";
  const Machine machine = machine_from_text("core:2");
  {
    RunRecord first("", path, machine), second("", path, machine);
    for (RunRecord* record : {&first, &second, &first, &second}) record->add("greedy", {});
  }
  const std::string text = read_file(path);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4) << text;
  std::remove(path.c_str());
}

}  // namespace
}  // namespace poise::balance
