// SPDX-License-Identifier: BSD-3-Clause

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/test_folder.h"

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/trace/trace.h"

namespace poise {
namespace {

using testing::HasSubstr;

/// Reads a file with this content. Returns the first assumption that the reader made or, if the
/// file cannot be read, the error. Either text shows which format the reader has recognised.
std::string told_about(const std::string& content, const ReadOptions& options = {}) {
  const TestFolder folder;
  const std::string path = folder.file("poise_read_test");
  write_file(path, content);
  std::string told;
  try {
    const Trace trace = read_trace(path, options);
    told = trace.assumed.empty() ? "nothing" : trace.assumed[0];
  } catch (const Error& error) {
    told = error.what();
  }
  return told;
}

TEST(ReadTrace, recognises_each_text_format_by_its_first_lines) {
  for (const char* text :
       {"from,to,bytes\n0,1,8\n", "bytes\tto\tfrom\n8\t1\t0\n", "0,5\n6,0\n", "0;5\n6;0\n",
        "0 5\n6 0\n", "% a matrix: 2 rows\n0 5\n6 0\n", "\n\n% a, b\n\n% c\n0,5\n6,0\n",
        "\xEF\xBB\xBF"
        "0,5\n6,0\n",
        "%%MatrixMarket matrix array real general\n2 2\n0\n5\n6\n0\n"})
    EXPECT_THAT(told_about(text), HasSubstr("a matrix holds bytes only")) << text;
  for (const char* text : {"2 1\n2\n1\n", "% a graph, with a comma\n2 1\n2\n1\n",
                           "9 0\n\n\n\n\n\n\n\n\n\n", "2 1 011\n5 2 10\n5 1 10\n"})
    EXPECT_THAT(told_about(text), HasSubstr("METIS")) << text;
  EXPECT_THAT(told_about("@ mpiP\n@--- MPI Time (seconds)\n 0 3 1 33\n * 3 1 33\n"),
              HasSubstr("the mpiP report does not say"));
  EXPECT_THAT(told_about("@ mpi\n"), HasSubstr("none of the formats"));
}

TEST(ReadTrace, a_file_in_no_recognised_text_format_is_read_as_a_file_of_vt) {
  EXPECT_THAT(told_about(R"({"from":1,"to":2,"bytes":3})"), HasSubstr("it has no \"phases\""));
  EXPECT_THAT(told_about("[1,2]\n"), HasSubstr("none of the formats"));
  EXPECT_THAT(told_about("from to\n"), HasSubstr("none of the formats"));
  EXPECT_THAT(told_about("0,5\n\x01,0\n"), HasSubstr("none of the formats"));
  EXPECT_THAT(told_about("\"from\",\"to\",\"bytes\"\n"), HasSubstr("none of the formats"));
}

TEST(ReadTrace, uses_the_format_that_the_caller_names) {
  EXPECT_THAT(told_about("2 1\n2\n1\n", {.format = "csv"}), HasSubstr("the row has 1 numbers"));
  EXPECT_THAT(told_about("0,5\n6,0\n", {.format = "metis"}), HasSubstr(":1: "));
  EXPECT_THAT(told_about("0,5\n6,0\n", {.format = "cvs"}), HasSubstr("unknown format \"cvs\""));
  for (const TraceFormat& format : trace_formats())
    EXPECT_THAT(told_about("?\n", {.format = std::string(format.name)}),
                HasSubstr("poise_read_test"))
        << format.name;
}

TEST(ReadTrace, empty_files_and_text_in_utf_16_are_refused_and_missing_files_are_named) {
  EXPECT_THAT(told_about(""), HasSubstr("the file is empty"));
  EXPECT_THAT(told_about("\xFF\xFE"
                         "0"),
              HasSubstr("the file is text in UTF-16"));
  EXPECT_THAT(told_about("\xFE\xFF"
                         "0"),
              HasSubstr("the file is text in UTF-16"));
  const TestFolder folder;
  const std::string path = folder.file("no_such_trace");
  EXPECT_THAT([&] { read_trace(path); },
              testing::ThrowsMessage<Error>(HasSubstr("neither this file nor ")));
}

}  // namespace
}  // namespace poise
