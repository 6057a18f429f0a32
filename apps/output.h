// What the program says and where: results on stdout, notes and progress on stderr.
#pragma once

#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <string_view>

namespace poise::apps {

/// Writes text to stdout and flushes it; a full disk is a failure, not a silence. The notes go to
/// stderr first, a line each, after the program's name: what was assumed on the way to the result.
void print(std::string_view text, std::span<const std::string> notes = {});

/// What went wrong, in words; the standard's own say of too little memory only "std::bad_alloc".
std::string reason(const std::exception& error);

/// Throws Error when a file could not be written to path; asked before long work.
void check_writable(const std::string& path);

/// Whether stdout is a terminal that shows bold and colours: not with NO_COLOR, nor TERM=dumb.
bool has_colours();

/// Columns of the terminal on stdout; 0 when stdout is none, so nothing is cut.
std::size_t terminal_width();

/// A line on stderr that follows long work; silent when stderr is no terminal.
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
