// SPDX-License-Identifier: BSD-3-Clause

#include "poise/trace/placement_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/test_folder.h"
#include "tests/support/text_of_error.h"

#include "poise/base/file.h"

namespace poise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const std::string& text) {
  return text_of_error([&] { placement_from_text("p.part", text); });
}

TEST(PlacementFile, reads_placements_as_lines_of_place_numbers_and_as_json) {
  EXPECT_THAT(placement_from_text("p", "0\n2\n1\n").places(), ElementsAre(0, 2, 1));
  EXPECT_THAT(placement_from_text("p", "0\r\n2").places(), ElementsAre(0, 2));
  EXPECT_THAT(placement_from_text("p", " {\"placement\": [3, 0]}").places(), ElementsAre(3, 0));
}

TEST(PlacementFile, placements_are_unchanged_after_writing_and_reading_lines_or_json) {
  const TestFolder folder;
  const Placement placement(std::vector<PlaceId>{4, 0, 60'000'000});
  for (const char* ending : {".part.3", ".json"}) {
    const std::string path = folder.file("placement") + ending;
    write_placement(path, placement);
    EXPECT_EQ(read_placement(path), placement);
    EXPECT_EQ(read_file(path).front() == '{', std::string(ending) == ".json");
  }
}

TEST(PlacementFile, errors_give_the_file_and_the_number_of_the_invalid_line_or_item) {
  EXPECT_THAT(error_of(R"({"placement": [0, 1], "placement": [1, 1]})"),
              HasSubstr("p.part: the key \"placement\" is given twice"));
  EXPECT_THAT(error_of("0\nx\n"), HasSubstr("p.part:2: \"x\" is not a place number"));
  EXPECT_THAT(error_of("0\n\n1\n"), HasSubstr("p.part:2:"));
  EXPECT_THAT(error_of("-1\n"), HasSubstr("p.part:1:"));
  EXPECT_THAT(error_of("67108864\n"), HasSubstr("p.part:1:"));
  EXPECT_EQ(error_of("67108863\n"), "no error");
  EXPECT_EQ(error_of("{\"placement\":[67108863]}"), "no error");
  EXPECT_THAT(error_of("{\"placement\":[67108864]}"), HasSubstr("item 0"));
  EXPECT_THAT(error_of("{\"placement\":{\"0\":1}}"), HasSubstr("has no list"));
  EXPECT_THAT(error_of(" \n"), HasSubstr("empty"));
  EXPECT_THAT(error_of("{\"placement\":[0,1.5]}"), HasSubstr("item 1"));
  EXPECT_THAT(error_of("{\"placement\":[4294967295]}"), HasSubstr("item 0"));
  EXPECT_THAT(error_of("{\"places\":[0]}"), HasSubstr("has no list"));
  EXPECT_THAT(error_of("[0,"), HasSubstr("nor JSON"));
}

}  // namespace
}  // namespace poise
