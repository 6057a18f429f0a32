// Output of the program: results on stdout, notes and progress on stderr.
#pragma once

#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <string_view>

namespace poise::apps {

/// Writes the notes (what was assumed) to stderr, one line each after the program's name, and then
/// the text to stdout. Throws std::runtime_error when stdout cannot be written (a full disk).
void print(std::string_view text, std::span<const std::string> notes = {});

/// The error in words; std::bad_alloc itself says only its name.
std::string reason(const std::exception& error);

/// Throws Error when a file cannot be written to path; called before long work.
void check_writable(const std::string& path);

/// Whether stdout is a terminal that shows bold and colours: not with NO_COLOR, nor TERM=dumb.
bool has_colours();

/// Columns of the terminal on stdout; 0 when stdout is no terminal.
std::size_t terminal_width();

/// A line on stderr that shows the progress of long work; nothing when stderr is no terminal.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(std::string_view text);

 private:
  bool is_shown_;
};

}  // namespace poise::apps
