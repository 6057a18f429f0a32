// SPDX-License-Identifier: BSD-3-Clause
// Events over time in the format of https://ui.perfetto.dev and chrome://tracing: slices on rows,
// rows in groups, arrows between slices.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace poise {

/// All times are in seconds since the same arbitrary start, and are written in nanoseconds.
class ChromeTrace {
 public:
  /// The row of a slice: a group of rows (such as a process) and a row in this group (such as a
  /// thread).
  struct Row {
    std::int64_t group = 0, row = 0;
  };

  using Notes = std::vector<std::pair<std::string, std::string>>;  // names and texts

  void name_group(std::int64_t group, std::string_view name);
  void name_row(Row row, std::string_view name);
  /// Adds a slice. Its category says what the row did, see kActivities. `notes` are shown when the
  /// user selects the slice.
  void slice(Row row, std::string_view name, std::string_view category, double from_s, double to_s,
             const Notes& notes = {});
  /// Draws an arrow from the slice on row `from` at from_s to the slice on row `to` that begins at
  /// to_s.
  void arrow(Row from, double from_s, Row to, double to_s, std::string_view name);

  /// Returns the text of the file. If `title` is not empty, the file shows it.
  std::string text(std::string_view title = {}) const;

 private:
  /// Begins an event with the fields that all events have. The caller adds the others and ends the
  /// event.
  void begin(char kind, std::string_view name, Row at);

  std::string events_;  // JSON
  std::uint64_t num_arrows_ = 0;
};

}  // namespace poise
