// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/transport/arena.h"

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtimes/tasks/transport/bytes.h"
#include "runtimes/tasks/transport/collective.h"
#include "runtimes/tasks/tuning.h"

#include "poise/base/check.h"

namespace poise::tasks {

namespace {

// The part of each rank begins at a multiple of the size of a huge page.
constexpr std::size_t kPage = std::size_t{1} << 21;

// What another process needs in order to map this rank's part of the memory, which is a file:
// process id and file descriptor locate the file, and device and inode prove that it is the right
// one.
struct Offer {
  std::int64_t process = 0, file = -1;
  std::uint64_t device = 0, inode = 0;
};

Offer offer_of(int file) {
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) return {};
  return {getpid(), file, status.st_dev, status.st_ino};
}

// True if the limit on file sizes allows this size. Without this check, a file above the limit
// would end the process with a signal.
bool is_below_file_limit(std::size_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes <= limit.rlim_cur;
}

int new_file(std::size_t bytes) {
  if (!is_below_file_limit(bytes)) return -1;
  const int file = memfd_create("poise", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, bytes) == 0) return file;
  if (file >= 0) close(file);
  return -1;
}

bool map(int file, std::byte* where, std::size_t bytes) {
  const int flags = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
  return mmap(where, bytes, PROT_READ | PROT_WRITE, flags, file, 0) == where;
}

bool map_offer(const Offer& offer, std::byte* where, std::size_t bytes) {
  if (offer.file < 0) return false;
  const auto path = fmt::format("/proc/{}/fd/{}", offer.process, offer.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  const Offer found = offer_of(file);
  const bool mapped =
      found.device == offer.device && found.inode == offer.inode && map(file, where, bytes);
  close(file);
  return mapped;
}

}  // namespace

Arena::Arena(MPI_Comm communicator, std::span<const std::uint32_t> node_of, std::size_t part_bytes)
    : part_of_(node_of.size(), -1), part_bytes_(aligned(part_bytes, kPage)) {
  int own = 0;
  MPI_Comm_rank(communicator, &own);
  for (std::uint32_t rank = 0; rank < node_of.size(); ++rank) {
    if (node_of[rank] != node_of[own]) continue;
    part_of_[rank] = ranks_.size();
    ranks_.push_back(rank);
  }
  const std::size_t all_bytes = part_bytes_ * ranks_.size();
  void* space = MAP_FAILED;
  if (part_bytes > 0 && ranks_.size() > 1) {
    file_ = new_file(part_bytes_);
    space = mmap(nullptr, all_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  const auto offers = all_of(communicator, offer_of(file_));
  bool here = space != MAP_FAILED;
  for (std::size_t part = 0; here && part < ranks_.size(); ++part)
    here = map_offer(offers[ranks_[part]], static_cast<std::byte*>(space) + part * part_bytes_,
                     part_bytes_);
  const auto everywhere = all_of(communicator, static_cast<char>(here));
  if (std::all_of(ranks_.begin(), ranks_.end(), [&](auto rank) { return everywhere[rank] != 0; })) {
    base_ = static_cast<std::byte*>(space);
    own_ = base_ + part_of_[own] * part_bytes_;
    free_.emplace(0, part_bytes_);
  } else if (space != MAP_FAILED) {
    munmap(space, all_bytes);
  }
}

Arena::~Arena() {
  if (base_) munmap(base_, part_bytes_ * ranks_.size());
  if (file_ >= 0) close(file_);
}

std::optional<Arena::Spot> Arena::find(const void* data, std::size_t bytes) const {
  const auto* begin = static_cast<const std::byte*>(data);
  if (!base_ || begin < base_ || begin >= base_ + part_bytes_ * ranks_.size()) return std::nullopt;
  const std::size_t offset = begin - base_;
  const std::size_t part = offset / part_bytes_, within = offset % part_bytes_;
  if (bytes > part_bytes_ - within) return std::nullopt;
  return Spot{ranks_[part], within};
}

void* Arena::at(const Spot& spot) const {
  POISE_CHECK(base_ && spot.rank < part_of_.size() && part_of_[spot.rank] >= 0);
  POISE_CHECK(spot.offset < part_bytes_);
  return base_ + part_of_[spot.rank] * part_bytes_ + spot.offset;
}

void* Arena::try_allocate(std::size_t bytes) {
  if (!base_ || bytes > part_bytes_) return nullptr;
  const std::size_t wanted = aligned(std::max<std::size_t>(bytes, 1));
  const std::lock_guard lock(mutex_);
  // Takes the first free piece that is large enough. Thus memory whose pages exist is reused before
  // new pages are touched.
  const auto hole = std::find_if(free_.begin(), free_.end(),
                                 [&](const auto& piece) { return piece.second >= wanted; });
  if (hole == free_.end()) return nullptr;
  const auto [offset, room] = *hole;
  free_.erase(hole);
  if (room > wanted) free_.emplace(offset + wanted, room - wanted);
  in_use_.emplace(offset, wanted);
  allocated_ += wanted;
  return own_ + offset;
}

std::size_t Arena::allocated_bytes() const {
  const std::lock_guard lock(mutex_);
  return allocated_;
}

bool Arena::in_own_part(const void* data) const {
  const auto* begin = static_cast<const std::byte*>(data);
  return own_ && begin >= own_ && begin < own_ + part_bytes_;
}

void* Arena::do_allocate(std::size_t bytes, std::size_t alignment) {
  if (alignment <= kAlignment)
    if (void* data = try_allocate(bytes)) return data;
  return ::operator new(bytes, std::align_val_t{alignment});
}

void Arena::do_deallocate(void* data, std::size_t, std::size_t alignment) {
  if (!in_own_part(data)) {
    ::operator delete(data, std::align_val_t{alignment});
    return;
  }
  const std::lock_guard lock(mutex_);
  const auto piece = in_use_.find(static_cast<std::byte*>(data) - own_);
  POISE_CHECK(piece != in_use_.end());
  auto [begin, size] = *piece;
  in_use_.erase(piece);
  allocated_ -= size;
  if (size >= tuning::kReturnToSystemBytes)
    (void)fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin, size);
  auto next = free_.lower_bound(begin);
  if (next != free_.end() && next->first == begin + size) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin) {
      before->second += size;
      return;
    }
  }
  free_.emplace_hint(next, begin, size);
}

}  // namespace poise::tasks
