#include "apps/table.h"

#include <gtest/gtest.h>

namespace poise::apps {
namespace {

const Table kTable{{"name", "a", "long\nheading"},
                   {{{"µs", "1", "2"}, ""}, {{"first", "10", "200"}, ""}, {{"bad"}, "why not"}}};

TEST(Table, aligns_by_characters_not_bytes) {
  EXPECT_EQ(render(kTable, 0),
            "              long\n"
            "name    a  heading\n"
            "µs      1        2\n"
            "first  10      200\n"
            "bad    why not\n");
}

TEST(Table, cuts_what_does_not_fit_into_blocks_that_repeat_the_names) {
  EXPECT_EQ(render(kTable, 12),
            "name    a\n"
            "µs      1\n"
            "first  10\n"
            "bad    why not\n"
            "\n"
            "          long\n"
            "name   heading\n"
            "µs           2\n"
            "first      200\n"
            "bad    why not\n");
}

}  // namespace
}  // namespace poise::apps
