// SPDX-License-Identifier: BSD-3-Clause
// Runs code that may crash, such as readers of third-party files, in a child process.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace poise {

struct SandboxLimits {
  double seconds = 60;                           // wall-clock
  std::uint64_t cpu_seconds = 20;                // at least 1
  std::uint64_t bytes = std::uint64_t{2} << 30;  // address space, in addition to what is in use
};

/// Runs `work` in a forked child that sees this process's memory but cannot change it, and returns
/// its result. Returns nothing if the child crashed, threw anything but Error, or exceeded a limit;
/// the child's stderr is discarded. Throws the Error that `work` threw, or an Error if no process
/// can be started. The child has only one thread, so work that waits for another thread ends at the
/// limit.
std::optional<std::string> in_sandbox(const std::function<std::string()>& work,
                                      const SandboxLimits& limits = {});

}  // namespace poise
