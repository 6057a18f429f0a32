// SPDX-License-Identifier: BSD-3-Clause

#include "poise/base/file.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "poise/base/error.h"

namespace poise {

namespace {

/// Closes a file descriptor at the end of a scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(written);
  }
  return true;
}

bool is_special(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

/// Returns the descriptor of stdout or stderr if it refers to the file at this path, else -1.
int stream_at(const std::string& path) {
  struct stat wanted {};
  if (::stat(path.c_str(), &wanted) != 0) return -1;
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat status {};
    if (::fstat(stream, &status) == 0 && status.st_dev == wanted.st_dev &&
        status.st_ino == wanted.st_ino)
      return stream;
  }
  return -1;
}

/// A full or broken disk is a system failure. Any other failure means that the path is wrong, which
/// is bad input.
[[noreturn]] void fail_to_write(const std::string& path, int error) {
  const std::string text = fmt::format("cannot write {}: {}", path, std::strerror(error));
  if (error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO) throw SystemError(text);
  throw Error(text);
}

void write_in_place(const std::string& path, std::string_view bytes) {
  // If the path names the file of stdout or stderr, writes to that stream's descriptor: a new
  // descriptor would begin at the start of the file and overwrite what the stream has written.
  if (const int stream = stream_at(path); stream >= 0) {
    if (!write_all(stream, bytes)) fail_to_write(path, errno);
    return;
  }
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0 || !write_all(file.get(), bytes)) fail_to_write(path, errno);
}

std::string read_all(int fd, const std::string& path, bool (*accepts)(std::string_view)) {
  struct stat status {};
  if (fd < 0 || ::fstat(fd, &status) != 0) fail("cannot read {}: {}", path, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) fail("cannot read {}: it is a directory", path);
  std::string bytes;
  bytes.reserve(status.st_size);
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot read {}: {}", path, std::strerror(errno));
    if (count == 0) return bytes;
    if (bytes.empty() && !S_ISREG(status.st_mode) &&
        !accepts({buffer, static_cast<std::size_t>(count)}))
      fail("cannot read {}: its first bytes match no file format that Poise reads", path);
    bytes.append(buffer, count);
  }
}

}  // namespace

bool is_written_in_place(const std::string& path) {
  return is_special(path) || stream_at(path) >= 0;
}

void write_file(const std::string& path, std::string_view bytes) {
  if (is_written_in_place(path)) return write_in_place(path, bytes);

  std::string temporary = path + ".XXXXXX";
  Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) fail_to_write(path, errno);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const bool done = write_all(file.get(), bytes) && ::fchmod(file.get(), 0666 & ~mask) == 0 &&
                    file.close() && ::rename(temporary.c_str(), path.c_str()) == 0;
  if (done) return;
  const int error = errno;
  ::unlink(temporary.c_str());
  fail_to_write(path, error);
}

bool is_text(std::string_view bytes) { return bytes.find('\0') == bytes.npos; }

std::string read_file(const std::string& path, bool (*accepts)(std::string_view)) {
  if (path == kStdin) return read_all(STDIN_FILENO, path, accepts);
  return read_all(Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)).get(), path, accepts);
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

}  // namespace poise
