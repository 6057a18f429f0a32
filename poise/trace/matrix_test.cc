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

TEST(MatrixMarket, the_entry_in_row_i_and_column_j_is_the_number_of_bytes_from_task_i_to_task_j) {
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

TEST(MatrixMarket, refuses_invalid_headers_and_sizes_and_entries) {
  for (const char* head :
       {"", " matrix", " matrix array real", " vector array real general",
        " matrix array real general x", " matrix list real general", " matrix array whole general",
        " matrix array pattern general", " matrix array real hermitian",
        " matrix coordinate real skew-symmetric"})
    expect_refused(market, std::string("%%MatrixMarket") + head + "\n1 1\n0\n",
                   "is not the header of a matrix that Poise can read");
  EXPECT_EQ(bytes_of(market("%%MatrixMarket MATRIX ARRAY REAL GENERAL\n1 1\n0\n")), Rows{{0}});
  const std::string pattern = "%%MatrixMarket matrix coordinate pattern general\n",
                    array = "%%MatrixMarket matrix array real general\n",
                    symmetric = "%%MatrixMarket matrix array real symmetric\n";
  for (const char* entry : {"0 1", "1 0", "3 1", "1 3"})
    expect_refused(market, pattern + "2 2 1\n" + entry + "\n", "m.mtx:3: entry (");
  EXPECT_EQ(bytes_of(market(pattern + "2 2 2\n1 2\n2 1\n")), (Rows{{0, 1}, {1, 0}}));
  expect_refused(market, pattern + "2 2 1\n1 2 1\n", "must have 2 numbers, not 3");
  expect_refused(market, pattern + "2 2\n", "m.mtx:2: the size must be rows, columns and entries");
  expect_refused(market, array + "2 2 4\n", "m.mtx:2: the size must be rows and columns");
  expect_refused(market, array + "2 3\n", "the matrix has 2 rows and 3 columns");
  expect_refused(market, array + "2 2\n1\n2\n3\n", "ends before entry (2, 2)");
  expect_refused(market, symmetric + "2 2\n1\n", "ends before entry (2, 1)");
  expect_refused(market, symmetric + "2 2\n1\n2\n3\n4\n", "m.mtx:6: there is another line");
}

TEST(MatrixMarket, refuses_a_matrix_whose_number_of_tasks_exceeds_the_file_size_in_bytes) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  const std::size_t size = head.size() + 8;
  const auto file = [&](std::size_t n) { return head + fmt::format("{0} {0} 0\n", n); };
  ASSERT_EQ(file(size).size(), size);
  EXPECT_EQ(market(file(size)).phases[0].workload.num_tasks(), size);
  expect_refused(market, file(size + 1),
                 fmt::format("{} tasks are too many for a file of {} bytes", size + 1, size));
}

TEST(MatrixMarket, byte_counts_are_rounded_and_refused_if_they_exceed_1e15) {
  const auto with = [](const std::string& entry) {
    return "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 " + entry + "\n";
  };
  const std::vector<std::pair<std::string, std::uint64_t>> cases{
      {"10.6", 11}, {"0.4", 0}, {"0.5", 1}, {"1e15", 1'000'000'000'000'000}};
  for (const auto& [entry, bytes] : cases) {
    const Trace trace = market(with(entry));
    EXPECT_EQ(bytes_of(trace), (Rows{{0, bytes}, {0, 0}}));
    EXPECT_EQ(trace.phases[0].workload.messages.size(), bytes > 0 ? 1u : 0u);
    for (const Message& message : trace.phases[0].workload.messages) EXPECT_EQ(message.count, 1u);
  }
  expect_refused(market, with("1.1e15"), "\"1.1e15\" is not a number of bytes");
  expect_refused(market, with("x"), "\"x\" is not a number of bytes");
}

TEST(MatrixCsv, ignores_blanks_around_values_and_lines_with_0_messages) {
  EXPECT_EQ(bytes_of(csv(" 0 ,\t5 \n 6\t, 0  \n")), (Rows{{0, 5}, {6, 0}}));
  const Trace list = csv("from, to, bytes, messages\n5 , 0, 10, 3\n1,2,0,0\n3,3,8,1\n0,1,0,2\n");
  const Workload& workload = list.phases[0].workload;
  EXPECT_EQ(workload.num_tasks(), 6u);
  ASSERT_EQ(workload.messages.size(), 2u);
  EXPECT_EQ(workload.messages[0].to, 1u);
  EXPECT_EQ(workload.messages[0].count, 2u);
  EXPECT_EQ(workload.messages[0].bytes, 0u);
  EXPECT_EQ(workload.messages[1].from, 5u);
  EXPECT_EQ(workload.messages[1].count, 3u);
  EXPECT_EQ(workload.tasks[5].bytes, 0u);
  EXPECT_TRUE(workload.tasks[5].movable);
  expect_refused(csv, "1,,2\n", "the column \"from\" is missing");
  expect_refused(csv, "from,bytes\n0,1\n", "the column \"to\" is missing");
  expect_refused(csv, "", "m.csv: the file is empty");
}

TEST(MatrixCsv, reads_a_matrix_without_row_and_column_names) {
  EXPECT_EQ(bytes_of(csv("0, 5,1e2\n6,9,0\n0,0,0")), (Rows{{0, 5, 100}, {6, 0, 0}, {0, 0, 0}}));
}

TEST(MatrixCsv, reads_a_list_of_messages_with_columns_in_any_order) {
  const Trace trace = csv("bytes,to,from,messages\n100,1,0,4\n50,2,1,1\n10,1,0,2\n");
  EXPECT_EQ(bytes_of(trace), (Rows{{0, 110, 0}, {0, 0, 50}, {0, 0, 0}}));
  EXPECT_EQ(trace.phases[0].workload.messages[0].count, 6u);
}

TEST(MatrixCsv, values_can_be_separated_by_semicolons_or_blanks) {
  const Rows rows{{0, 5, 100}, {6, 0, 0}, {0, 0, 0}};
  EXPECT_EQ(bytes_of(csv("0; 5;1e2\n6;9;0\n0;0;0\n")), rows);
  EXPECT_EQ(bytes_of(csv("0 5  1e2\r\n 6\t9 0\n0.0e+00 0 0\n")), rows);
  EXPECT_EQ(bytes_of(csv("from;to;bytes\n0;1;7\n")), (Rows{{0, 7}, {0, 0}}));
  EXPECT_EQ(bytes_of(csv("from\tto\tbytes\n0\t1\t7\n")), (Rows{{0, 7}, {0, 0}}));
}

TEST(MatrixCsv, a_decimal_comma_is_refused) {
  expect_refused(csv, "0;1,5\n2;0\n", "m.csv:1: the entry \"1,5\" is not a number of bytes");
}

TEST(MatrixCsv, n_lines_of_n_numbers_are_read_as_a_matrix_unless_they_could_be_a_metis_graph) {
  EXPECT_TRUE(is_square("0 5 1\n6 0 2\n7 8 0\n"));
  EXPECT_TRUE(is_square("% bytes\n0 5\n\n6 0"));
  EXPECT_TRUE(is_square("0.0e+00 5\n6 0\n"));
  EXPECT_FALSE(is_square("2 1 011\n5 2 10\n5 1 10\n"));  // may be a METIS graph of two vertices
  EXPECT_FALSE(is_square("0 5 1\n6 0 2\n"));
  EXPECT_FALSE(is_square("0 5\n6 0 2\n"));
  EXPECT_FALSE(is_square("a b\nc d\n"));
  EXPECT_FALSE(is_square("a 5\nb 0\n"));
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
