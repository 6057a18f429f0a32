// SPDX-License-Identifier: BSD-3-Clause

#include "poise/trace/matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poise/base/error.h"
#include "poise/base/random.h"

namespace poise::matrix {
namespace {

using Rows = std::vector<std::vector<std::uint64_t>>;

/// Returns a matrix with the bytes of the messages from each task (row) to each task (column).
Rows bytes_of(const Trace& trace) {
  const Workload& workload = trace.phases.at(0).workload;
  Rows rows(workload.num_tasks(), std::vector<std::uint64_t>(workload.num_tasks()));
  for (const Message& message : workload.messages) rows[message.from][message.to] += message.bytes;
  return rows;
}

Trace market(std::string_view text) { return read_matrix_market("m.mtx", text); }
Trace csv(std::string_view text) { return read_csv("m.csv", text); }

template <typename Read>
void expect_refused(const Read& read, std::string_view text, std::string_view says) {
  try {
    read(text);
    ADD_FAILURE() << "not refused: " << text;
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(std::string(says)));
  }
}

TEST(MatrixMarket, the_entry_in_row_i_and_column_j_is_the_bytes_from_task_i_to_task_j) {
  const Trace trace = market(
      "%%MatrixMarket matrix coordinate real general\n% a comment\n3 3 4\n1 2 10.4\n3 1 7\n"
      "2 2 5\n3 1 1e3\n");
  EXPECT_EQ(bytes_of(trace), (Rows{{0, 10, 0}, {0, 0, 0}, {1007, 0, 0}}));
  EXPECT_EQ(trace.phases[0].workload.tasks[0].load_s, 1e-6);
  EXPECT_EQ(trace.assumed.size(), 1u);
}

TEST(MatrixMarket, an_entry_of_a_symmetric_matrix_counts_in_both_directions) {
  EXPECT_EQ(bytes_of(market("%%MatrixMarket MATRIX Coordinate pattern symmetric\r\n3 3 2\r\n2 1\r\n"
                            "3 2\r\n")),
            (Rows{{0, 1, 0}, {1, 0, 1}, {0, 1, 0}}));
}

TEST(MatrixMarket, reads_arrays_column_by_column) {
  EXPECT_EQ(bytes_of(market("%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3\n4\n")),
            (Rows{{0, 3}, {2, 0}}));
  EXPECT_EQ(bytes_of(market("%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n")),
            (Rows{{0, 2}, {2, 0}}));
}

TEST(MatrixMarket, refuses_invalid_files) {
  constexpr std::string_view kGeneral = "%%MatrixMarket matrix coordinate real general\n";
  const auto general = [&](std::string_view rest) { return std::string(kGeneral).append(rest); };
  expect_refused(market, "%%MatrixMarket matrix coordinate complex general\n1 1 0\n", "complex");
  expect_refused(market, "%%MatrixMarket matrix array pattern general\n1 1\n", "pattern");
  expect_refused(market, kGeneral, "numbers of rows and columns is missing");
  expect_refused(market, general("2 3 0\n"), "m.mtx:2: the matrix has 2 rows and 3 columns");
  expect_refused(market, general("0 0 0\n"), "empty");
  expect_refused(market, general("9999 9999 0\n"), "too many for a file");
  expect_refused(market, general("2 2 1\n3 1 5\n"), "m.mtx:3: entry (3, 1) does not exist");
  expect_refused(market, general("2 2 1\n1 2 -5\n"), "\"-5\"");
  expect_refused(market, general("2 2 1\n1 2 nan\n"), "\"nan\"");
  expect_refused(market, general("2 2 1\n1 2\n"), "must have 3 numbers, not 2");
  expect_refused(market, general("2 2 2\n1 2 1\n"), "ends after 1 of 2 entries");
  expect_refused(market, general("2 2 1\n1 2 1\n2 1 1\n"), "another line");
}

TEST(MatrixCsv, reads_a_matrix_without_row_and_column_names) {
  EXPECT_EQ(bytes_of(csv("0, 5,1e2\n6,9,0\n0,0,0")), (Rows{{0, 5, 100}, {6, 0, 0}, {0, 0, 0}}));
}

TEST(MatrixCsv, reads_a_list_of_messages_with_columns_in_any_order) {
  const Trace trace = csv("bytes,to,from,messages\n100,1,0,4\n50,2,1,1\n10,1,0,2\n");
  EXPECT_EQ(bytes_of(trace), (Rows{{0, 110, 0}, {0, 0, 50}, {0, 0, 0}}));
  EXPECT_EQ(trace.phases[0].workload.messages[0].count, 6u);
}

TEST(MatrixCsv, values_may_be_separated_by_semicolons_or_blanks) {
  const Rows rows{{0, 5, 100}, {6, 0, 0}, {0, 0, 0}};
  EXPECT_EQ(bytes_of(csv("0; 5;1e2\n6;9;0\n0;0;0\n")), rows);
  EXPECT_EQ(bytes_of(csv("0 5  1e2\r\n 6\t9 0\n0.0e+00 0 0\n")), rows);
  EXPECT_EQ(bytes_of(csv("from;to;bytes\n0;1;7\n")), (Rows{{0, 7}, {0, 0}}));
  EXPECT_EQ(bytes_of(csv("from\tto\tbytes\n0\t1\t7\n")), (Rows{{0, 7}, {0, 0}}));
}

TEST(MatrixCsv, a_decimal_comma_is_refused) {
  expect_refused(csv, "0;1,5\n2;0\n", "m.csv:1: the entry \"1,5\" is not a number of bytes");
}

TEST(MatrixCsv, n_lines_of_n_numbers_are_read_as_a_matrix_unless_they_may_be_a_metis_graph) {
  EXPECT_TRUE(is_square("0 5 1\n6 0 2\n7 8 0\n"));
  EXPECT_TRUE(is_square("% bytes\n0 5\n\n6 0"));
  EXPECT_TRUE(is_square("0.0e+00 5\n6 0\n"));
  EXPECT_FALSE(is_square("2 1 011\n5 2 10\n5 1 10\n"));  // may be a METIS graph of two vertices
  EXPECT_FALSE(is_square("0 5 1\n6 0 2\n"));
  EXPECT_FALSE(is_square("0 5\n6 0 2\n"));
  EXPECT_FALSE(is_square("a b\nc d\n"));
  EXPECT_FALSE(is_square("7\n"));
  EXPECT_FALSE(is_square(""));
}

TEST(MatrixCsv, refuses_messages_and_bytes_whose_sums_are_too_large) {
  expect_refused(csv, "from,to,bytes,messages\n0,1,1,18446744073709551615\n0,1,1,2\n",
                 "m.csv: workload: the total number of messages exceeds");
  std::string list = "from,to,bytes\n";
  for (int line = 0; line < 18'447; ++line) list += "0,1,1e15\n";  // more than 2^64 bytes
  expect_refused(csv, list, "m.csv: workload: the total number of bytes of messages exceeds");
}

TEST(MatrixCsv, refuses_invalid_files) {
  expect_refused(csv, "1,2\n3\n", "m.csv:2: the row has 1 numbers, but the first row has 2");
  expect_refused(csv, "1,2\n", "2 columns, but 1 rows");
  expect_refused(csv, "1,2\n3,4\n5,6\n", "m.csv:3: there is another line");
  expect_refused(csv, "task,load_s\n", "the column \"from\" is missing");
  expect_refused(csv, "from,to,bytes\n0,1\n", "2 values for 3 columns");
  expect_refused(csv, "from,to,bytes\n0,x,1\n", "to \"x\"");
  expect_refused(csv, "from,to,bytes\n0,4000000000,1\n", "too many for a file");
  expect_refused(csv, "from,to,bytes\n18446744073709551615,0,1\n", "too many for a file");
  expect_refused(csv, "from,to,bytes\n", "no messages");
  expect_refused(csv, "from,to,bytes,messages\n0,1,0,0\n1,0,9,0\n",
                 "m.csv:3: 0 messages cannot have 9 bytes");
}

TEST(MatrixForms, a_random_matrix_is_the_same_when_read_from_any_format) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const std::size_t n = 1 + random.below(12);
    Rows rows(n, std::vector<std::uint64_t>(n));
    std::string dense, list = "from,to,bytes\n", coordinates, array;
    std::size_t entries = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        if (i != j && random.below(2) == 0) rows[i][j] = random.below(1000);
        dense += fmt::format("{}{}", rows[i][j], j + 1 == n ? "\n" : ",");
        list += fmt::format("{},{},{}\n", i, j, rows[i][j]);
        coordinates += fmt::format("{} {} {}\n", i + 1, j + 1, rows[i][j]);
        ++entries;
      }
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i) array += fmt::format("{}\n", rows[i][j]);
    const std::string head = "%%MatrixMarket matrix ";
    EXPECT_EQ(bytes_of(csv(dense)), rows);
    EXPECT_EQ(bytes_of(csv(list)), rows);
    EXPECT_EQ(
        bytes_of(market(head + fmt::format("coordinate real general\n{0} {0} {1}\n", n, entries) +
                        coordinates)),
        rows);
    EXPECT_EQ(bytes_of(market(head + fmt::format("array real general\n{0} {0}\n", n) + array)),
              rows);
  }
}

}  // namespace
}  // namespace poise::matrix
