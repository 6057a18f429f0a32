// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/claim.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <utility>

namespace poise::juggle {

namespace {

Descriptor folder_of(pid_t process) {
  return Descriptor(
      ::open(fmt::format("/proc/{}", process).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/// True if another balancer holds the lock.
bool is_refused(const Descriptor& folder, int kind) {
  return ::flock(folder.get(), kind | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace

std::optional<Descriptor> claim(pid_t process) {
  for (pid_t above = parent_of(process); above > 0; above = parent_of(above))
    if (is_claimed(above)) return {};
  Descriptor folder = folder_of(process);
  if (is_refused(folder, LOCK_EX)) return {};
  return folder;
}

bool is_claimed(pid_t process) { return is_refused(folder_of(process), LOCK_SH); }

}  // namespace poise::juggle
