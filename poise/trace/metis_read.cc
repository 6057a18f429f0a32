// SPDX-License-Identifier: BSD-3-Clause
// Reads METIS graphs: a header of counts and one line per vertex (METIS manual, section 4.1.1).
#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "poise/base/error.h"
#include "poise/trace/lines.h"
#include "poise/trace/metis_graph.h"

namespace poise::metis {

namespace {

/// Reads the numbers of one line, which are separated by blanks.
class Line {
 public:
  Line(const std::string& file, std::size_t number, std::string_view text)
      : file_(&file), number_(number), text_(text) {}

  template <typename... Args>
  [[noreturn]] void fail_here(fmt::format_string<Args...> format, Args&&... args) const {
    fail("{}:{}: {}", *file_, number_, fmt::format(format, std::forward<Args>(args)...));
  }

  bool is_at_end() {
    text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r"), text_.size()));
    return text_.empty();
  }

  std::uint64_t next(const char* what) {
    if (is_at_end()) fail_here("{} is missing", what);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    const std::size_t size = end - text_.data();
    if (error != std::errc{} || text_.substr(size).find_first_not_of(" \t\r") == 0)
      fail_here("{} \"{}\" is not a whole number of at least 0", what,
                text_.substr(0, std::min<std::size_t>(text_.find_first_of(" \t\r"), 20)));
    text_.remove_prefix(size);
    return value;
  }

  std::size_t number() const { return number_; }

 private:
  const std::string* file_;
  std::size_t number_;
  std::string_view text_;
};

/// The lines of the file, without comments.
class Lines : public poise::Lines {
 public:
  using poise::Lines::Lines;

  std::optional<Line> next() {
    while (const auto line = poise::Lines::next())
      if (!line->starts_with('%')) return Line(file(), number(), *line);
    return std::nullopt;
  }
};

struct Header {
  std::uint64_t vertices, edges, weights_per_vertex;
  bool has_sizes, has_edge_weights;
};

Header read_head(Line line, std::size_t file_size) {
  Header header{line.next("the number of vertices"), line.next("the number of edges"), 0, false,
                false};
  const std::uint64_t format = line.is_at_end() ? 0 : line.next("the format");
  const std::uint64_t sizes = format / 100, weights = format / 10 % 10, edge_weights = format % 10;
  if (format > 111 || weights > 1 || edge_weights > 1)
    line.fail_here("the format {} is invalid; it must be three digits 0 or 1", format);
  const std::uint64_t constraints = line.is_at_end() ? 1 : line.next("the number of weights");
  if (!line.is_at_end()) line.fail_here("the header has more than four numbers");
  if (constraints == 0 || (constraints > 1 && weights == 0))
    line.fail_here("{} weights per vertex contradict the format {:03}", constraints, format);
  // Every vertex takes a line and every edge two numbers, so neither count can exceed the file's
  // size in bytes.
  if (header.vertices > file_size || header.edges > file_size)
    line.fail_here("the header says {} vertices and {} edges, too many for a file of {} bytes",
                   header.vertices, header.edges, file_size);
  if (header.vertices > std::numeric_limits<TaskId>::max())
    line.fail_here("{} vertices are too many; the maximum is {}", header.vertices,
                   std::numeric_limits<TaskId>::max());
  header.weights_per_vertex = weights == 0 ? 0 : constraints;
  header.has_sizes = sizes == 1;
  header.has_edge_weights = edge_weights == 1;
  return header;
}

/// The graph in the order of the file, with one entry per neighbour in the line of a vertex.
struct GraphRows {
  Workload workload;  // the edges of vertex t begin at messages[first[t]]
  // The index of each vertex's first neighbour; the last element is the number of all neighbours.
  std::vector<std::size_t> first;
  std::vector<std::size_t> line;  // per vertex: its line in the file
};

void read_vertex(Line line, const Header& header, GraphRows& graph) {
  const TaskId vertex = graph.workload.num_tasks();
  Task task{1e-6, 0, true};
  if (header.has_sizes) task.bytes = line.next("the vertex size");
  for (std::uint64_t w = 0; w < header.weights_per_vertex; ++w) {
    const std::uint64_t weight = line.next("a vertex weight");
    if (w == 0) task.load_s = weight / 1e6;
  }
  while (!line.is_at_end()) {
    const std::uint64_t neighbour = line.next("a neighbour");
    if (neighbour == 0 || neighbour > header.vertices)
      line.fail_here("neighbour {} does not exist; vertices are numbered 1 to {}", neighbour,
                     header.vertices);
    if (neighbour == vertex + 1) line.fail_here("vertex {} is its own neighbour", vertex + 1);
    const std::uint64_t weight = header.has_edge_weights ? line.next("an edge weight") : 1;
    graph.workload.messages.emplace_back(vertex, neighbour - 1, 1, weight);
  }
  graph.workload.tasks.push_back(task);
  graph.line.push_back(line.number());
  graph.first.push_back(graph.workload.messages.size());
}

/// Sorts the neighbours of every vertex.
std::vector<Message> sorted_rows(const std::string& name, const GraphRows& graph) {
  std::vector<Message> rows = graph.workload.messages;
  for (TaskId u = 0; u < graph.workload.num_tasks(); ++u) {
    const std::span<Message> row(rows.data() + graph.first[u], rows.data() + graph.first[u + 1]);
    std::sort(row.begin(), row.end(),
              [](const Message& a, const Message& b) { return a.to < b.to; });
    for (std::size_t i = 1; i < row.size(); ++i)
      if (row[i].to == row[i - 1].to)
        fail("{}:{}: vertex {} lists the neighbour {} twice", name, graph.line[u], u + 1,
             row[i].to + 1);
  }
  return rows;
}

/// Checks that every edge is in the lines of both of its vertices, with the same weight. Edges are
/// visited in the order of their first vertex, and each line is sorted by neighbour, so next[v]
/// advances through the line of v as the edges to v are visited.
void check_symmetry(const std::string& name, const GraphRows& graph) {
  const std::vector<Message> rows = sorted_rows(name, graph);
  std::vector<std::size_t> next(graph.first.begin(), graph.first.end() - 1);
  for (const Message& edge : rows) {
    const std::size_t back = next[edge.to]++;
    if (back == graph.first[edge.to + 1] || rows[back].to > edge.from)
      fail(
          "{0}:{1}: vertex {2} lists vertex {3} as a neighbour, but vertex {3} does not list "
          "vertex {2}",
          name, graph.line[edge.from], edge.from + 1, edge.to + 1);
    if (rows[back].to < edge.from)
      fail(
          "{0}:{1}: vertex {2} lists vertex {3} as a neighbour, but vertex {3} does not list "
          "vertex {2}",
          name, graph.line[edge.to], edge.to + 1, rows[back].to + 1);
    if (rows[back].bytes != edge.bytes)
      fail(
          "{}:{}: the edge from vertex {} to vertex {} has weight {}, but the same edge has weight "
          "{} in the other direction",
          name, graph.line[edge.from], edge.from + 1, edge.to + 1, edge.bytes, rows[back].bytes);
  }
}

/// Says which units the reader assumes, because METIS files do not name any. docs/formats.md says
/// which units Poise writes.
std::string assumed_units(const Header& header) {
  const char* loads = header.weights_per_vertex == 0
                          ? "no vertex weights: every task takes 1 microsecond"
                          : "vertex weights are taken for microseconds";
  const char* sizes = header.has_edge_weights ? "edge weights are taken for bytes"
                                              : "no edge weights: every message has 1 byte";
  return fmt::format("METIS files have no units: {}; {}", loads, sizes);
}

}  // namespace

Trace read_graph(const std::string& name, std::string_view text) {
  Lines lines(name, text);
  std::optional<Line> line = lines.next();
  if (!line) fail("{}: the file is empty", name);
  const Header header = read_head(*line, text.size());
  GraphRows graph;
  graph.first.push_back(0);
  while (graph.workload.tasks.size() < header.vertices) {
    line = lines.next();
    if (!line)
      fail("{}: the header says {} vertices, but only {} lines with vertices follow", name,
           header.vertices, graph.workload.tasks.size());
    read_vertex(*line, header, graph);
  }
  while ((line = lines.next()))
    if (!line->is_at_end())
      line->fail_here("there is another line after the {} vertices", header.vertices);
  if (graph.workload.messages.size() != 2 * header.edges)
    fail(
        "{}: the header says {} edges, so the lines must list {} neighbours in total, but they "
        "list {}",
        name, header.edges, 2 * header.edges, graph.workload.messages.size());
  check_symmetry(name, graph);
  Trace trace;
  trace.phases.emplace_back().workload = std::move(graph.workload);
  trace.assumed.push_back(assumed_units(header));
  return trace;
}

}  // namespace poise::metis
