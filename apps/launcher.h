// Runs a program under a launcher such as mpirun and hands on the lines it prints.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace poise::apps {

/// Runs `command` in a shell and calls on_line for each line of its stdout. The whole process group
/// ends with this call, and with this program. Throws std::runtime_error in one line, with what the
/// command said on stderr, when it fails or is not done after timeout_s.
void run_lines(const std::string& command, double timeout_s,
               const std::function<void(std::string_view line)>& on_line);

/// The text as one word for the shell.
std::string shell_word(std::string_view text);

}  // namespace poise::apps
