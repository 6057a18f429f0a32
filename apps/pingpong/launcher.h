// SPDX-License-Identifier: BSD-3-Clause
// Runs a program under a launcher such as mpirun, and calls a function for each line that the
// program prints.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace poise::apps {

/// Runs `command` in a shell and calls on_line for each line of its stdout. If the command fails or
/// takes longer than timeout_s, throws std::runtime_error with a one-line message that includes the
/// first line on stderr that has a letter. If this call ends before the command, kills the
/// processes of the command.
void run_lines(const std::string& command, double timeout_s,
               const std::function<void(std::string_view line)>& on_line);

/// Quotes the text as one word for the shell.
std::string shell_word(std::string_view text);

}  // namespace poise::apps
