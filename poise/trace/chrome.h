// What happened when, as a picture that https://ui.perfetto.dev and chrome://tracing open: slices
// on rows, rows in groups, arrows between slices.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace poise {

/// Times are in seconds, from whatever beginning.
class ChromeTrace {
 public:
  /// Where a slice lies: a group of rows, such as a process, and a row in it, such as a thread.
  struct Row {
    std::int64_t group = 0, row = 0;
  };

  using Notes = std::vector<std::pair<std::string, std::string>>;  // names and texts

  ChromeTrace();
  ~ChromeTrace();

  void name_group(std::int64_t group, const std::string& name);
  void name_row(Row row, const std::string& name);
  /// `notes`: what one reads when the slice is chosen.
  void slice(Row row, const std::string& name, double from_s, double to_s, const Notes& notes = {});
  /// From the slice that is there at a time to the one that begins at the other.
  void arrow(Row from, double from_s, Row to, double to_s, const std::string& name);

  /// The file's text.
  std::string text() const;

 private:
  struct Events;
  std::unique_ptr<Events> events_;
};

}  // namespace poise
