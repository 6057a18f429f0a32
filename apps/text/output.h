// SPDX-License-Identifier: BSD-3-Clause
// Output of the program: results on stdout, notes and progress on stderr.
#pragma once

#include <cstddef>
#include <exception>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace poise::apps {

/// Writes the text to stdout. Before that, writes the notes (assumptions) to stderr, one per line,
/// with the program's name in front. Throws std::runtime_error if stdout cannot be written, for
/// example because the disk is full.
void print(std::string_view text, std::span<const std::string> notes = {});

/// Returns a JSON document as the text that a command prints. Bytes that are not UTF-8, which a
/// file name may contain, become U+FFFD.
std::string document_text(const nlohmann::ordered_json& document);

/// Writes the text to stderr. Does nothing if stderr cannot be written, because a lost note must
/// not end a program that Poise runs.
void say(std::string_view text);

/// Writes the line "SPEAKER: TEXT" to stderr. Bytes of the text that could control the terminal are
/// written as escapes, because the text may quote a file.
void say_line(std::string_view speaker, std::string_view text);

/// Returns the error as text. std::bad_alloc gets a text of its own, because its what() returns
/// only the name of the class.
std::string reason(const std::exception& error);

/// Throws Error if one of the files `outputs` cannot be written, or if writing to it would destroy
/// one of `inputs` or another output. Ignores empty paths. Commands call this before a long
/// computation, whose result would otherwise be lost.
void check_outputs(const std::vector<std::string>& outputs, std::vector<std::string> inputs = {});

/// Throws Error if `path` names the same file as one of `others`. Ignores empty paths. For commands
/// that cannot call check_outputs(), because they may write several files whose names begin with
/// `path`.
void check_differs(const std::string& path, std::span<const std::string> others);

/// True if stdout is a terminal that shows bold and colours, and neither NO_COLOR nor TERM=dumb is
/// set.
bool has_colours();

/// Returns the number of columns of the terminal on stdout, or 0 if stdout is not a terminal.
std::size_t terminal_width();

/// Shows the progress of long work in a line on stderr, if stderr is a terminal.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(std::string_view text);
  /// True if the last text was shown at least a tenth of a second ago, so that a new one may be
  /// shown.
  bool is_due() const;

 private:
  bool is_shown_;
  double shown_s_ = 0;  // when
};

}  // namespace poise::apps
