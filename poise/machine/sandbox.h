// Work that may crash, done in a child process: for readers of files that are not ours to mend.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace poise {

struct SandboxLimits {
  double seconds = 60;                           // of the clock
  std::uint64_t cpu_seconds = 20;                // at least 1
  std::uint64_t bytes = std::uint64_t{2} << 30;  // of address space, beyond what is in use already
};

/// What `work` returned in a forked child, which sees this process as it is and changes nothing in
/// it. Nothing when the child crashed, threw something else than Error, or went beyond a limit; the
/// child's stderr is silent. Throws the Error that `work` threw, or one when no process can be
/// started. Other threads do not exist in the child: work that waits for one ends at the limit.
std::optional<std::string> in_sandbox(const std::function<std::string()>& work,
                                      const SandboxLimits& limits = {});

}  // namespace poise
