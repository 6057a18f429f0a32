// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/balance/run_record.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "tests/support/test_folder.h"

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/machine/text.h"

namespace poise::balance {
namespace {

TEST(RunRecord, two_open_records_with_the_same_log_file_keep_the_lines_of_both) {
  const TestFolder folder;
  const std::string path = folder.file("decisions.log");
  const Machine machine = machine_from_text("core:2");
  const auto num_lines = [&] {
    const std::string text = read_file(path);
    return std::count(text.begin(), text.end(), '\n');
  };
  {
    RunRecord first("", path, machine);
    first.add("greedy", {});
    RunRecord second("", path, machine);
    for (RunRecord* record : {&second, &first, &second}) record->add("greedy", {});
  }
  EXPECT_EQ(num_lines(), 4);
  {
    RunRecord later("", path, machine);
    later.add("greedy", {});
  }
  EXPECT_EQ(num_lines(), 1);
}

TEST(RunRecord, throws_if_a_line_of_the_log_cannot_be_written) {
  RunRecord record("", "/dev/full", machine_from_text("core:2"));
  EXPECT_THROW(record.add("greedy", {}), Error);
}

}  // namespace
}  // namespace poise::balance
