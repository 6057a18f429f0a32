// SPDX-License-Identifier: BSD-3-Clause
// Events over time in the format of https://ui.perfetto.dev and chrome://tracing: slices on rows,
// rows in groups, arrows between slices.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace poise {

/// All times are in seconds since the same arbitrary start.
class ChromeTrace {
 public:
  /// The row of a slice: a group of rows (such as a process) and a row in this group (such as a
  /// thread).
  struct Row {
    std::int64_t group = 0, row = 0;
  };

  using Notes = std::vector<std::pair<std::string, std::string>>;  // names and texts

  ChromeTrace();
  ~ChromeTrace();

  void name_group(std::int64_t group, const std::string& name);
  void name_row(Row row, const std::string& name);
  /// Adds a slice. `notes` are shown when the user selects it.
  void slice(Row row, const std::string& name, double from_s, double to_s, const Notes& notes = {});
  /// Draws an arrow from the slice on row `from` at from_s to the slice on row `to` that begins at
  /// to_s.
  void arrow(Row from, double from_s, Row to, double to_s, const std::string& name);

  /// Returns the text of the file.
  std::string text() const;

 private:
  struct Events;
  std::unique_ptr<Events> events_;
};

}  // namespace poise
