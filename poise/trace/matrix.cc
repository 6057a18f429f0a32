// SPDX-License-Identifier: BSD-3-Clause

#include "poise/trace/matrix.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "poise/base/error.h"
#include "poise/base/text.h"
#include "poise/trace/lines.h"
#include "poise/workload/checks.h"
#include "poise/workload/merge.h"

namespace poise::matrix {

namespace {

constexpr double kMaxBytes = 1e15;  // limit for the bytes of one entry

/// The lines of a file, without those that are blank or start with '%'.
class Lines : public poise::Lines {
 public:
  using poise::Lines::Lines;

  /// Returns the next line, or nothing at the end.
  std::optional<std::string_view> next() {
    while (auto line = poise::Lines::next()) {
      line = line->substr(0, line->find_last_not_of(" \t\r") + 1);
      if (!line->empty() && line->front() != '%') return line;
    }
    return std::nullopt;
  }

  std::uint64_t whole(std::string_view text, const char* what) const {
    const std::optional<unsigned long long> value = parse_unsigned(text);
    if (!value) fail_here("{} \"{}\" is not a whole number of at least 0", what, text);
    return *value;
  }

  std::uint64_t bytes(std::string_view text) const {
    const std::optional<double> value = parse_number(text);
    if (!value || *value < 0 || *value > kMaxBytes)
      fail_here("the entry \"{}\" is not a number of bytes from 0 to {}", text, kMaxBytes);
    return static_cast<std::uint64_t>(*value + .5);
  }
};

/// Returns the separator of values in the first line of a table.
char separator_of(std::string_view line) {
  for (const char separator : {';', ','})
    if (line.find(separator) != line.npos) return separator;
  return ' ';
}

/// Splits a line at the separator and removes the blanks around each value.
std::vector<std::string_view> fields_of(std::string_view line, char separator) {
  if (separator == ' ') return split_at_blanks(line);
  std::vector<std::string_view> fields = split(line, separator);
  for (std::string_view& field : fields) {
    field.remove_prefix(std::min(field.find_first_not_of(" \t"), field.size()));
    field = field.substr(0, field.find_last_not_of(" \t") + 1);
  }
  return fields;
}

void add(std::vector<Message>& messages, std::uint64_t from, std::uint64_t to, std::uint64_t count,
         std::uint64_t bytes) {
  if (from == to || count == 0) return;
  messages.emplace_back(from, to, count, bytes);
}

/// Adds an entry of a matrix as one message. An entry of 0 bytes is ignored.
void add_entry(std::vector<Message>& messages, std::uint64_t from, std::uint64_t to,
               std::uint64_t bytes) {
  add(messages, from, to, bytes > 0 ? 1 : 0, bytes);
}

Trace trace_of(const std::string& name, std::uint64_t num_tasks, std::vector<Message> messages) {
  Trace trace;
  Workload& workload = trace.phases.emplace_back().workload;
  workload.tasks.assign(num_tasks, Task{1e-6, 0, true});
  workload.messages = std::move(messages);
  try {
    check_messages(workload);  // comes first, so that the sums in merged() fit in 64 bits
  } catch (const Error& error) {
    fail("{}: {}", name, error.what());
  }
  workload.messages = merged(num_tasks, workload.messages);
  trace.assumed.push_back("a matrix holds bytes only: every task takes 1 microsecond");
  return trace;
}

struct Banner {
  bool is_array, is_pattern, is_symmetric;
};

Banner read_banner(const std::string& name, std::string_view text) {
  const std::string_view line = text.substr(0, std::min(text.find_first_of("\r\n"), text.size()));
  std::string lower(line.substr(std::min(kMagic.size(), line.size())));
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = c - 'A' + 'a';
  const std::vector<std::string_view> words = split_at_blanks(lower);
  const auto is_one_of = [&](std::size_t i, std::initializer_list<std::string_view> known) {
    return i < words.size() && std::find(known.begin(), known.end(), words[i]) != known.end();
  };
  if (words.size() != 4 || words[0] != "matrix" || !is_one_of(1, {"coordinate", "array"}) ||
      !is_one_of(2, {"real", "integer", "pattern"}) || !is_one_of(3, {"general", "symmetric"}) ||
      (words[1] == "array" && words[2] == "pattern"))
    fail(
        "{}:1: \"{}\" is not the header of a matrix that Poise can read. The header must be: {} "
        "matrix FORMAT FIELD SYMMETRY. FORMAT is coordinate or array; FIELD is real or integer or, "
        "in the format coordinate, also pattern; SYMMETRY is general or symmetric",
        name, line, kMagic);
  return {words[1] == "array", words[2] == "pattern", words[3] == "symmetric"};
}

/// Reads a matrix in coordinate form: each line has a row and a column (from 1) and an entry.
void read_coordinates(Lines& lines, const Banner& banner, std::uint64_t n, std::uint64_t entries,
                      std::vector<Message>& messages) {
  for (std::uint64_t e = 0; e < entries; ++e) {
    const std::optional<std::string_view> line = lines.next();
    if (!line) lines.fail_here("the file ends after {} of {} entries", e, entries);
    const std::vector<std::string_view> words = split_at_blanks(*line);
    if (words.size() != (banner.is_pattern ? 2 : 3))
      lines.fail_here("an entry must have {} numbers, not {}", banner.is_pattern ? 2 : 3,
                      words.size());
    const std::uint64_t row = lines.whole(words[0], "the row");
    const std::uint64_t column = lines.whole(words[1], "the column");
    if (row == 0 || column == 0 || row > n || column > n)
      lines.fail_here("entry ({}, {}) does not exist; rows and columns are numbered 1 to {}", row,
                      column, n);
    const std::uint64_t bytes = banner.is_pattern ? 1 : lines.bytes(words[2]);
    add_entry(messages, row - 1, column - 1, bytes);
    if (banner.is_symmetric) add_entry(messages, column - 1, row - 1, bytes);
  }
}

/// Reads a matrix in array form: one entry per line, column by column. A symmetric matrix has only
/// the entries on and below the diagonal.
void read_array(Lines& lines, const Banner& banner, std::uint64_t n,
                std::vector<Message>& messages) {
  for (std::uint64_t column = 0; column < n; ++column)
    for (std::uint64_t row = banner.is_symmetric ? column : 0; row < n; ++row) {
      const std::optional<std::string_view> line = lines.next();
      if (!line) lines.fail_here("the file ends before entry ({}, {})", row + 1, column + 1);
      const std::uint64_t bytes = lines.bytes(*line);
      add_entry(messages, row, column, bytes);
      if (banner.is_symmetric) add_entry(messages, column, row, bytes);
    }
}

/// Checks that the file has at least one byte per task. Otherwise a wrong number in the file could
/// make the reader exhaust the memory.
void check_size(const Lines& lines, std::uint64_t num_tasks, std::string_view text) {
  if (num_tasks > text.size() || num_tasks > std::numeric_limits<TaskId>::max())
    lines.fail_here("{} tasks are too many for a file of {} bytes", num_tasks, text.size());
}

/// Reads n lines of n numbers; `line` is the first.
Trace read_dense(Lines& lines, std::string_view line) {
  const char separator = separator_of(line);
  const std::size_t n = fields_of(line, separator).size();
  std::vector<Message> messages;
  std::uint64_t row = 0;
  for (std::optional<std::string_view> next = line; next; next = lines.next(), ++row) {
    const std::vector<std::string_view> fields = fields_of(*next, separator);
    if (row == n) lines.fail_here("there is another line after the {} rows of the matrix", n);
    if (fields.size() != n)
      lines.fail_here("the row has {} numbers, but the first row has {}", fields.size(), n);
    for (std::size_t column = 0; column < n; ++column)
      add_entry(messages, row, column, lines.bytes(fields[column]));
  }
  if (row != n) lines.fail_here("the matrix has {} columns, but {} rows", n, row);
  return trace_of(lines.file(), n, std::move(messages));
}

/// Reads a list of messages. `head` is the line with the names of the columns; below it there is
/// one line per message.
Trace read_list(Lines& lines, std::string_view head, std::string_view text) {
  constexpr std::string_view kColumns[] = {"from", "to", "bytes", "messages"};
  const std::vector<std::string_view> names = fields_of(head, separator_of(head));
  std::size_t at[4];
  for (std::size_t c = 0; c < 4; ++c) {
    at[c] = std::find(names.begin(), names.end(), kColumns[c]) - names.begin();
    if (at[c] == names.size() && c < 3)
      lines.fail_here(
          "the column \"{}\" is missing; a list of messages has the columns from, to, "
          "bytes and optionally messages, a matrix only numbers",
          kColumns[c]);
  }
  std::vector<Message> messages;
  std::uint64_t num_tasks = 0;
  while (const std::optional<std::string_view> line = lines.next()) {
    const std::vector<std::string_view> fields = fields_of(*line, separator_of(head));
    if (fields.size() != names.size())
      lines.fail_here("the line has {} values for {} columns", fields.size(), names.size());
    const std::uint64_t from = lines.whole(fields[at[0]], "from");
    const std::uint64_t to = lines.whole(fields[at[1]], "to");
    const std::uint64_t last = std::max(from, to);
    check_size(lines, last == std::numeric_limits<std::uint64_t>::max() ? last : last + 1, text);
    num_tasks = std::max(num_tasks, last + 1);
    const bool has_count = at[3] < names.size();
    const std::uint64_t count = has_count ? lines.whole(fields[at[3]], "messages") : 1;
    const std::uint64_t bytes = lines.bytes(fields[at[2]]);
    if (count == 0 && bytes > 0) lines.fail_here("0 messages cannot have {} bytes", bytes);
    add(messages, from, to, count, bytes);
  }
  if (num_tasks == 0) lines.fail_here("the list has no messages");
  return trace_of(lines.file(), num_tasks, std::move(messages));
}

}  // namespace

Trace read_matrix_market(const std::string& name, std::string_view text) {
  const Banner banner = read_banner(name, text);
  Lines lines(name, text);
  const std::optional<std::string_view> line = lines.next();
  if (!line) fail("{}: the line with the numbers of rows and columns is missing", name);
  const std::vector<std::string_view> size = split_at_blanks(*line);
  if (size.size() != (banner.is_array ? 2 : 3))
    lines.fail_here("the size must be {}",
                    banner.is_array ? "rows and columns" : "rows, columns and entries");
  const std::uint64_t n = lines.whole(size[0], "the number of rows");
  if (lines.whole(size[1], "the number of columns") != n)
    lines.fail_here("the matrix has {} rows and {} columns; it must be square", size[0], size[1]);
  if (n == 0) lines.fail_here("the matrix is empty");
  check_size(lines, n, text);
  std::vector<Message> messages;
  if (banner.is_array)
    read_array(lines, banner, n, messages);
  else
    read_coordinates(lines, banner, n, lines.whole(size[2], "the number of entries"), messages);
  if (lines.next()) lines.fail_here("there is another line after the last entry");
  return trace_of(name, n, std::move(messages));
}

bool is_square(std::string_view text) {
  const std::string no_name;
  Lines lines(no_name, text);
  const std::optional<std::string_view> first = lines.next();
  if (!first) return false;
  const std::vector<std::string_view> words = split_at_blanks(*first);
  std::size_t num_lines = 1;
  for (; const auto line = lines.next(); ++num_lines)
    if (split_at_blanks(*line).size() != words.size()) return false;
  return num_lines > 1 && num_lines == words.size() && parse_number(words[0]) &&
         parse_unsigned(words[0]) != num_lines - 1;
}

Trace read_csv(const std::string& name, std::string_view text) {
  Lines lines(name, text);
  const std::optional<std::string_view> line = lines.next();
  if (!line) fail("{}: the file is empty", name);
  const std::vector<std::string_view> first = fields_of(*line, separator_of(*line));
  const bool is_dense = std::all_of(first.begin(), first.end(), [](std::string_view field) {
    // A malformed number such as 1,5 counts as a number here, so that read_dense() names it in an
    // error.
    return !field.empty() && field.find_first_not_of("0123456789.,+-eE") == field.npos;
  });
  return is_dense ? read_dense(lines, *line) : read_list(lines, *line, text);
}

}  // namespace poise::matrix
