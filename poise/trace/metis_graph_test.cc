// SPDX-License-Identifier: BSD-3-Clause

#include "poise/trace/metis_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/seeds.h"
#include "tests/support/test_folder.h"
#include "tests/support/text_of_error.h"

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/trace/trace_testing.h"

namespace poise {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& text) {
  return text_of_error([&] { metis::read_graph("g.graph", text); });
}

Workload read(const std::string& text) {
  return metis::read_graph("g.graph", text).phases.at(0).workload;
}

TEST(MetisGraph, vertex_weights_are_microseconds_while_vertex_sizes_and_edge_weights_are_bytes) {
  const Workload workload =
      read("% a path\n3 2 111\n100 7 2 5\n% inside\n200 8 1 5 3 6\n300 9 2 6\n");
  ASSERT_EQ(workload.num_tasks(), 3u);
  EXPECT_EQ(workload.tasks[1].load_s, 8e-6);
  EXPECT_EQ(workload.tasks[1].bytes, 200u);
  ASSERT_EQ(workload.messages.size(), 4u);
  EXPECT_EQ(workload.messages[2].from, 1u);
  EXPECT_EQ(workload.messages[2].to, 2u);
  EXPECT_EQ(workload.messages[2].bytes, 6u);
  EXPECT_EQ(workload.messages[2].count, 1u);
}

TEST(MetisGraph, reads_graphs_with_every_format_code_of_metis) {
  EXPECT_EQ(read("2 1\n2\n1\n").tasks[0].load_s, 1e-6);
  EXPECT_EQ(read("2 1 0\n2\n1\n").messages[0].bytes, 1u);
  EXPECT_EQ(read("2 1 000\n2\n1\n").messages[0].bytes, 1u);
  EXPECT_EQ(read("2 1 001\n2 9\n1 9\n").messages[0].bytes, 9u);
  EXPECT_EQ(read("2 1 1\n2 9\n1 9\n").messages[0].bytes, 9u);
  EXPECT_EQ(read("2 1 010\n5 2\n6 1\n").tasks[1].load_s, 6e-6);
  EXPECT_EQ(read("2 1 011\n5 2 9\n6 1 9\n").tasks[1].load_s, 6e-6);
  EXPECT_EQ(read("2 1 100\n5 2\n6 1\n").tasks[1].bytes, 6u);
  EXPECT_EQ(read("2 1 101\n5 2 9\n6 1 9\n").messages[1].bytes, 9u);
  EXPECT_EQ(read("2 1 110\n5 3 2\n6 4 1\n").tasks[1].load_s, 4e-6);
  EXPECT_EQ(read("2 1 111\n5 3 2 9\n6 4 1 9\n").tasks[1].bytes, 6u);
  EXPECT_EQ(read("2 1 011 3\n5 50 500 2 9\n6 60 600 1 9\n").tasks[1].load_s, 6e-6);
}

TEST(MetisGraph, accepts_vertices_without_edges_and_windows_line_endings) {
  EXPECT_EQ(read("3 1\n2\r\n1\n\n").num_tasks(), 3u);
  EXPECT_EQ(read("1 0 010\n 4 \n\n\n").tasks[0].load_s, 4e-6);
}

TEST(MetisGraph, errors_give_the_file_and_the_number_of_the_invalid_line) {
  EXPECT_THAT(error_of(""), HasSubstr("g.graph: the file is empty"));
  EXPECT_THAT(error_of("2\n"), HasSubstr("g.graph:1: the number of edges is missing"));
  EXPECT_THAT(error_of("2 1 12\n2\n1\n"), HasSubstr("the format 12 is invalid"));
  EXPECT_THAT(error_of("2 1 001 2\n2\n1\n"), HasSubstr("2 weights per vertex contradict"));
  EXPECT_THAT(error_of("2 1 011 2 9\n2\n1\n"), HasSubstr("more than four"));
  EXPECT_THAT(error_of("2 1\n2\n"), HasSubstr("the header says 2 vertices, but only 1 lines"));
  EXPECT_THAT(error_of("2 1\n2\n1\n1\n"),
              HasSubstr("g.graph:4: there is another line after the 2 vertices"));
  EXPECT_THAT(error_of("2 2\n2\n1\n"), HasSubstr("the header says 2 edges, so the lines must list "
                                                 "4 neighbours in total, but they list 2"));
  EXPECT_THAT(error_of("2 1\n3\n1\n"), HasSubstr("g.graph:2: neighbour 3 does not exist"));
  EXPECT_THAT(error_of("2 1\n0\n1\n"), HasSubstr("g.graph:2: neighbour 0"));
  EXPECT_THAT(error_of("2 1\n1\n1\n"), HasSubstr("g.graph:2: vertex 1 is its own neighbour"));
  EXPECT_THAT(error_of("2 1\n2 2\n\n"),
              HasSubstr("g.graph:2: vertex 1 lists the neighbour 2 twice"));
  EXPECT_THAT(error_of("3 1\n2\n3\n\n"),
              HasSubstr("g.graph:2: vertex 1 lists vertex 2 as a neighbour, but vertex 2 does not "
                        "list vertex 1"));
  EXPECT_THAT(error_of("3 1\n\n1 3\n\n"),
              HasSubstr("g.graph:3: vertex 2 lists vertex 1 as a neighbour"));
  EXPECT_THAT(error_of("2 1 1\n2 5\n1 6\n"),
              HasSubstr("weight 5, but the same edge has weight 6 in the other direction"));
  EXPECT_THAT(error_of("2 1 1\n2\n1 6\n"), HasSubstr("g.graph:2: an edge weight is missing"));
  EXPECT_THAT(error_of("2 1\n2x\n1\n"), HasSubstr("g.graph:2: a neighbour \"2x\" is not"));
  EXPECT_THAT(error_of("2 1\n-2\n1\n"), HasSubstr("\"-2\" is not"));
  EXPECT_THAT(error_of("2 1 10\n1.5 2\n1 1\n"), HasSubstr("\"1.5\" is not"));
  EXPECT_THAT(error_of("1000000000 5\n"), HasSubstr("too many for a file of 13 bytes"));
}

TEST(MetisGraph, neighbours_may_be_listed_in_any_order) {
  const Workload workload = read("4 4 1\n4 7 2 5\n3 6 1 5\n4 8 2 6\n1 7 3 8\n\n");
  ASSERT_EQ(workload.messages.size(), 8u);
  EXPECT_EQ(workload.messages[0].to, 3u);
  EXPECT_EQ(workload.messages[0].bytes, 7u);
  EXPECT_EQ(workload.messages[1].to, 1u);
}

TEST(MetisGraph, an_error_about_an_edge_names_the_line_that_lists_it) {
  // Vertex 3 lists vertex 1, but vertex 1 does not list vertex 3. The reader notices this when it
  // checks the edge between vertices 2 and 3.
  EXPECT_THAT(error_of("4 2\n\n3\n2 1\n1\n"),
              HasSubstr("g.graph:4: vertex 3 lists vertex 1 as a neighbour, but vertex 1 does not "
                        "list vertex 3"));
  EXPECT_THAT(error_of("4 2\n2\n% comment\n3\n2\n3\n"),
              HasSubstr("g.graph:2: vertex 1 lists vertex 2 as a neighbour, but vertex 2 does not "
                        "list vertex 1"));
  EXPECT_THAT(error_of("3 1\n\n3\n% comment\n1\n"),
              HasSubstr("g.graph:5: vertex 3 lists vertex 1 as a neighbour, but vertex 1 does not "
                        "list vertex 3"));
  EXPECT_THAT(error_of("3 1 1\n\n3 7\n2 9\n"),
              HasSubstr("g.graph:3: the edge from vertex 2 to vertex 3 has weight 7, but the same "
                        "edge has weight 9"));
  EXPECT_THAT(error_of("3 2\n\n3 1 3\n2\n"),
              HasSubstr("g.graph:3: vertex 2 lists the neighbour 3 twice"));
}

TEST(MetisGraph, a_wrong_header_is_refused_and_a_long_word_is_cut_off_in_the_error) {
  for (const char* format : {"2", "20", "12", "21", "112", "121", "200", "999"})
    EXPECT_THAT(error_of(std::string("1 0 ") + format + "\n5 5\n"), HasSubstr("is invalid"))
        << format;
  EXPECT_THAT(error_of("2 1 010 0\n2\n1\n"), HasSubstr("0 weights per vertex contradict"));
  EXPECT_THAT(error_of("2 1 101 2\n2\n1\n"), HasSubstr("2 weights per vertex contradict"));
  EXPECT_EQ(error_of("2 1 000 1\n2\n1\n"), "no error");
  EXPECT_THAT(error_of("2 1000\n2\n1\n"), HasSubstr("too many for a file of 11 bytes"));
  EXPECT_THAT(error_of("2 1\n2 abcdefghijklmnopqrstuvwxyz\n1\n"),
              HasSubstr("a neighbour \"abcdefghijklmnopqrst\" is not"));
  EXPECT_THAT(error_of("2 1 10\n\n1 1\n"), HasSubstr("g.graph:2: a vertex weight is missing"));
  EXPECT_THAT(error_of("2 1 100\n\n1 1\n"), HasSubstr("g.graph:2: the vertex size is missing"));
}

TEST(MetisGraph, the_trace_says_which_units_were_assumed) {
  const auto assumed = [](const std::string& text) {
    return metis::read_graph("g.graph", text).assumed.at(0);
  };
  EXPECT_EQ(assumed("1 0\n\n"),
            "METIS files have no units: no vertex weights: every task takes 1 microsecond; no edge "
            "weights: every message has 1 byte");
  EXPECT_EQ(
      assumed("1 0 011\n4\n"),
      "METIS files have no units: vertex weights are taken for microseconds; edge weights are "
      "taken for bytes");
}

TEST(MetisGraph, refuses_a_graph_if_only_one_of_two_neighbours_lists_the_other) {
  // A ring in which one end of one edge is redirected to another vertex.
  for (std::uint64_t seed = 0; seed < num_seeds(100); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::uint64_t n = 5 + random.below(10), bent = random.below(n);
    std::string text = std::to_string(n) + " " + std::to_string(n) + "\n";
    for (std::uint64_t v = 0; v < n; ++v) {
      const std::uint64_t right = v == bent ? (v + 2) % n : (v + 1) % n;
      text += std::to_string((v + n - 1) % n + 1) + " " + std::to_string(right + 1) + "\n";
    }
    EXPECT_THAT(error_of(text), HasSubstr("does not list vertex"));
  }
}

TEST(MetisGraph, a_trace_that_a_graph_can_represent_is_unchanged_after_writing_and_reading) {
  Trace trace;
  Workload& workload = trace.phases.emplace_back().workload;
  workload.tasks = {{3e-6, 100, true}, {5e-6, 0, true}, {0, 1, true}};
  workload.messages = {{0, 1, 1, 10}, {1, 0, 1, 10}, {1, 2, 1, 7}, {2, 1, 1, 7}};
  const Trace found = metis::read_graph("g.graph", metis::write_graph(trace));
  expect_same(found, trace);
}

TEST(MetisGraph, a_written_graph_is_not_read_as_csv_although_its_comment_has_commas) {
  Trace trace;
  Workload& workload = trace.phases.emplace_back().workload;
  workload.tasks = {{3e-6, 100, true}, {5e-6, 0, true}};
  workload.messages = {{0, 1, 1, 10}, {1, 0, 1, 10}};
  const TestFolder folder;
  const std::string path = folder.file("of_two_tasks.graph");
  write_file(path, metis::write_graph(trace));
  expect_same(read_trace(path), trace);
  write_file(path, "% from, to, bytes\n\n% of ranks\nfrom,to,bytes\n0,1,8\n");
  EXPECT_EQ(read_trace(path).phases.at(0).workload.messages.at(0).bytes, 8u);
}

TEST(MetisGraph, writing_a_graph_assigns_half_of_the_bytes_between_two_tasks_to_each_direction) {
  Trace trace;
  Workload& workload = trace.phases.emplace_back().workload;
  workload.tasks = {{1.4e-6, 0, true}, {1, 0, true}};
  workload.messages = {{0, 1, 5, 30}, {0, 1, 1, 1}, {1, 1, 1, 9}};
  const Trace found = metis::read_graph("g.graph", metis::write_graph(trace));
  EXPECT_EQ(found.phases[0].workload.tasks[0].load_s, 1e-6);
  ASSERT_EQ(found.phases[0].workload.messages.size(), 2u);
  EXPECT_EQ(found.phases[0].workload.messages[0].bytes, 16u);
}

TEST(MetisGraph, written_loads_are_rounded_to_microseconds_and_every_edge_has_at_least_one_byte) {
  Trace trace;
  Workload& workload = trace.phases.emplace_back().workload;
  workload.tasks = {{1.6e-6, 7, true}, {1e14, 0, true}, {0, 0, true}};
  workload.messages = {{0, 1, 5, 0}, {2, 1, 1, 8}, {1, 2, 1, 3}};
  EXPECT_EQ(metis::write_graph(trace),
            "% size, load in us, then neighbours with the bytes each way\n3 2 111\n7 2 2 1\n"
            "0 9000000000000000000 1 1 3 6\n0 0 2 6\n");
}

TEST(MetisGraph, refuses_a_trace_with_several_phases) {
  EXPECT_THROW(metis::write_graph(full_trace()), Error);
}

}  // namespace
}  // namespace poise
