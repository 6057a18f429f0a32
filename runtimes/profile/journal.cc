// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/journal.h"

#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace poise::profile {

namespace {

// The lowest file descriptor that the profile uses: programs may expect lower ones to be free.
constexpr int kFirstDescriptor = 500;

}  // namespace

Journal::Journal(const std::string& folder, RankProfile head) : head_(std::move(head)) {
  head_.is_complete = false;
  if (folder.empty()) return;
  path_ = folder + "/rank-" + std::to_string(head_.rank);
  const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  file_ = ::fcntl(file, F_DUPFD_CLOEXEC, kFirstDescriptor);
  if (file_ < 0)
    file_ = file;
  else
    ::close(file);
  if (::write(file_, kMagic.data(), kMagic.size()) < 0) remove();
}

Journal::~Journal() {
  if (file_ >= 0) ::close(file_);
}

void Journal::append(Cuts cuts, const Phase& phase,
                     const std::map<std::uint64_t, std::string>& names) {
  if (file_ < 0) return;
  head_.cuts = cuts;
  head_.phases.assign(1, phase);
  head_.names = names;
  const std::string block = encode(head_);
  // If the disk is full, the journal ends and the program continues. Readers ignore an incomplete
  // block at the end.
  if (::write(file_, block.data(), block.size()) != static_cast<ssize_t>(block.size()))
    ::close(std::exchange(file_, -1));
}

void Journal::remove() {
  if (!path_.empty()) ::unlink(path_.c_str());
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

}  // namespace poise::profile
