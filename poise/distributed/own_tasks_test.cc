// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/own_tasks.h"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>

#include "tests/support/text_of_error.h"

namespace poise {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kMost = std::uint64_t{1} << 53;

/// Three tasks. The first one sends to tasks of ranks 0 and 2, the last one to a task of rank 1.
OwnArrays three_tasks() {
  OwnArrays own;
  own.ids = {5, 6, 7};
  own.load_s = {0, 1e15, 2};
  own.bytes = {1, 0, 3};
  own.pinned = {0, 1, 0};
  own.first = {0, 2, 2, 3};
  own.to = {6, 20, 10};
  own.to_rank = {0, 2, 1};
  own.counts = {1, 0, kMost - 1};
  own.message_bytes = {0, kMost, 0};
  own.background_s = 1e15;
  return own;
}

template <typename Change>
std::string complaint(const Change& change) {
  OwnArrays own = three_tasks();
  change(own);
  return text_of_error([&] { check(own.view(), 3); });
}

TEST(OwnTasks, optional_arrays_may_be_empty) {
  EXPECT_EQ(complaint([](OwnArrays&) {}), "no error");
  EXPECT_EQ(complaint([](OwnArrays& own) {
              own.bytes.clear();
              own.pinned.clear();
              own.to_rank.clear();
              own.counts.clear();
              own.message_bytes.clear();
            }),
            "no error");
  EXPECT_EQ(complaint([](OwnArrays& own) {
              own.first.clear();
              own.to.clear();
              own.to_rank.clear();
              own.counts.clear();
              own.message_bytes.clear();
            }),
            "no error");
}

TEST(OwnTasks, refuses_arrays_of_the_wrong_length) {
  const auto complaint_without_last = [](auto OwnArrays::*array) {
    return complaint([&](OwnArrays& own) { (own.*array).pop_back(); });
  };
  EXPECT_EQ(complaint_without_last(&OwnArrays::load_s), "load_s has 2 entries; it needs 3");
  EXPECT_EQ(complaint_without_last(&OwnArrays::bytes), "bytes has 2 entries; it needs 3");
  EXPECT_EQ(complaint_without_last(&OwnArrays::pinned), "pinned has 2 entries; it needs 3");
  EXPECT_EQ(complaint_without_last(&OwnArrays::first), "indptr has 3 entries; it needs 4");
  EXPECT_EQ(complaint_without_last(&OwnArrays::to_rank),
            "neighbour ranks has 2 entries; it needs 3");
  EXPECT_EQ(complaint_without_last(&OwnArrays::counts), "counts has 2 entries; it needs 3");
  EXPECT_EQ(complaint_without_last(&OwnArrays::message_bytes),
            "message bytes has 2 entries; it needs 3");
  EXPECT_EQ(complaint([](OwnArrays& own) { own.load_s.clear(); }),
            "load_s has 0 entries; it needs 3");
  EXPECT_EQ(complaint([](OwnArrays& own) { own.first.clear(); }),
            "indptr is missing, but there are 3 neighbours");
}

TEST(OwnTasks, refuses_rows_that_do_not_cover_the_list_of_neighbours) {
  const auto complaint_about = [](const std::vector<std::uint64_t>& first) {
    return complaint([&](OwnArrays& own) { own.first = first; });
  };
  EXPECT_EQ(complaint_about({0, 0, 0, 3}), "no error");
  EXPECT_EQ(complaint_about({1, 2, 2, 3}), "indptr[0] is 1; it must be 0");
  EXPECT_THAT(complaint_about({0, 2, 1, 3}), HasSubstr("indptr[2] is 1, less than the entry"));
  EXPECT_THAT(complaint_about({0, 4, 3, 3}), HasSubstr("indptr[2] is 3, less than the entry"));
  EXPECT_EQ(complaint_about({0, 2, 2, 4}), "indptr ends with 4, but there are 3 neighbours");
  EXPECT_EQ(complaint_about({0, 2, 2, 2}), "indptr ends with 2, but there are 3 neighbours");
}

TEST(OwnTasks, refuses_times_and_counts_and_ranks_that_are_out_of_range) {
  for (const double value :
       {-1e-9, 1.1e15, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(complaint([&](OwnArrays& own) { own.load_s[2] = value; }),
                HasSubstr("load_s[2] is "));
    EXPECT_THAT(complaint([&](OwnArrays& own) { own.background_s = value; }),
                HasSubstr("background_s is "));
  }
  EXPECT_THAT(complaint([](OwnArrays& own) { own.to_rank[2] = 3; }),
              HasSubstr("the rank of neighbour 2 is 3, but there are only 3 ranks"));
  EXPECT_THAT(complaint([](OwnArrays& own) { own.bytes[2] = kMost + 1; }),
              HasSubstr("bytes[2] is "));
  EXPECT_THAT(complaint([](OwnArrays& own) { own.counts[1] = kMost + 1; }),
              HasSubstr("counts[1] is "));
  EXPECT_THAT(complaint([](OwnArrays& own) { own.message_bytes[0] = kMost + 1; }),
              HasSubstr("message bytes[0] is "));
  EXPECT_THAT(complaint([](OwnArrays& own) {
                own.bytes = {kMost, 0, 1};
              }),
              HasSubstr("the total number of bytes exceeds the limit"));
  EXPECT_THAT(complaint([](OwnArrays& own) { own.counts[0] = 2; }),
              HasSubstr("the total number of counts exceeds the limit"));
  EXPECT_THAT(complaint([](OwnArrays& own) { own.message_bytes[0] = 1; }),
              HasSubstr("the total number of message bytes exceeds the limit"));
}

}  // namespace
}  // namespace poise
