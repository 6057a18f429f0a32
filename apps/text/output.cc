// SPDX-License-Identifier: BSD-3-Clause

#include "apps/text/output.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <sys/ioctl.h>
#include <unistd.h>

#include "poise/base/clock.h"
#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/text.h"

namespace poise::apps {

namespace {

/// Throws Error if no file can be written to `path`. Ignores an empty path.
void check_writable(const std::string& path) {
  if (path.empty()) return;
  if (path == "-") fail("cannot write to \"-\"; use /dev/stdout to write to stdout");
  std::error_code ignored;  // errors are reported when the file is written
  if (is_written_in_place(path) && !std::filesystem::is_directory(path, ignored)) return;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)
    fail("cannot write {}: {}", path, std::strerror(errno));
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored))
    fail("cannot write {}: {} is not a directory", path, folder.string());
  if (std::filesystem::is_directory(path, ignored))
    fail("cannot write {}: it is a directory", path);
}

}  // namespace

void print(std::string_view text, std::span<const std::string> notes) {
  for (const std::string& note : notes) say_line("poise", note);
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0)
    throw std::runtime_error(fmt::format("cannot write to stdout: {}", std::strerror(errno)));
}

std::string document_text(const nlohmann::ordered_json& document) {
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void say(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

void say_line(std::string_view speaker, std::string_view text) {
  say(fmt::format("{}: {}\n", speaker, printable(text)));
}

std::string reason(const std::exception& error) {
  const bool is_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  return is_memory ? "there is not enough memory" : error.what();
}

void check_outputs(const std::vector<std::string>& outputs, std::vector<std::string> inputs) {
  for (const std::string& output : outputs) {
    check_writable(output);
    check_differs(output, inputs);
    inputs.push_back(output);
  }
}

void check_differs(const std::string& path, std::span<const std::string> others) {
  namespace fs = std::filesystem;
  std::error_code ignored;  // equivalent() fails if a file does not exist yet
  for (const std::string& other : others) {
    const bool is_same = fs::absolute(path, ignored).lexically_normal() ==
                             fs::absolute(other, ignored).lexically_normal() ||
                         fs::equivalent(path, other, ignored);
    if (path.empty() || other.empty() || !is_same || is_written_in_place(path)) continue;
    fail("cannot write {}: it is the same file as {}, which this command also reads or writes",
         path, other);
  }
}

bool has_colours() {
  const auto is_set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && value[0] != '\0';
  };
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return ::isatty(STDOUT_FILENO) != 0 && !is_set("NO_COLOR") && !is_dumb;
}

std::size_t terminal_width() {
  winsize size{};
  if (!::isatty(STDOUT_FILENO) || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

Progress::Progress() : is_shown_(::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() { show(""); }

void Progress::show(std::string_view text) {
  if (!is_shown_) return;
  say(fmt::format("\r\x1b[K{}", text));
  shown_s_ = wall_now_s();
}

bool Progress::is_due() const { return is_shown_ && wall_now_s() > shown_s_ + 0.1; }

}  // namespace poise::apps
