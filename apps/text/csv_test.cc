// SPDX-License-Identifier: BSD-3-Clause

#include "apps/text/csv.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace poise::apps {
namespace {

TEST(Csv, flattens_nested_objects_and_writes_null_as_an_empty_cell_and_quotes_commas) {
  const auto rows = nlohmann::ordered_json::parse(R"([{"a": 1, "b": {"c": 2.5, "d": null}},
      {"a": "x, \"y\"", "e": true}])");
  EXPECT_EQ(csv_of(rows),
            "a,b_c,b_d,e\n"
            "1,2.5,,\n"
            "\"x, \"\"y\"\"\",,,true\n");
}

}  // namespace
}  // namespace poise::apps
