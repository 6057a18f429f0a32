// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/threads.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "runtimes/juggle/claim.h"
#include "runtimes/juggle/counter.h"

#include "poise/base/text.h"

namespace poise::juggle {

namespace {

/// Reads a short file of /proc completely. Returns nothing if the file or its thread no longer
/// exists.
std::optional<std::string> read_short(const Descriptor& file) {
  if (!file) return {};  // errno still tells why it could not be opened
  std::string text;
  std::array<char, 4096> buffer;
  const auto end = [&] { return text.size(); };
  for (ssize_t count; (count = ::pread(file.get(), buffer.data(), buffer.size(), end())) != 0;) {
    if (count < 0) return {};
    text.append(buffer.data(), count);
  }
  return text;
}

Descriptor open_to_read(int folder, const std::string& path) {
  return Descriptor(::openat(folder, path.c_str(), O_RDONLY | O_CLOEXEC));
}

/// Returns the number in a field of a `stat` file in /proc. The first field after the name of the
/// command is field 3.
std::optional<std::uint64_t> field(std::string_view stat, std::size_t number) {
  const std::size_t command_end = stat.rfind(')');
  if (command_end == stat.npos || command_end + 2 > stat.size()) return {};
  const auto fields = split(stat.substr(command_end + 2), ' ');
  if (fields.size() <= number - 3) return {};
  return parse_unsigned(fields[number - 3]);
}

bool is_out_of_files() { return errno == EMFILE || errno == ENFILE; }

/// Returns the numeric names in a folder, as numbers. Returns nothing if this process cannot open
/// more files.
std::optional<std::vector<pid_t>> numbers_in_folder(int folder) {
  std::vector<pid_t> numbers;
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return is_out_of_files() ? std::nullopt : std::optional(numbers);
  DIR* stream = ::fdopendir(copy);
  if (stream == nullptr) return numbers;
  while (const dirent* entry = ::readdir(stream))
    if (const auto number = parse_unsigned(entry->d_name)) numbers.push_back(*number);
  ::closedir(stream);
  return numbers;
}

void add_children(const Descriptor& of_thread, std::vector<pid_t>& children) {
  const auto text = read_short(of_thread);
  if (!text) return;
  const auto more = parse_children(*text);
  children.insert(children.end(), more.begin(), more.end());
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

std::optional<CpuTime> parse_schedstat(std::string_view text) {
  std::uint64_t run_ns = 0, wait_ns = 0, turns = 0;
  const char* const end = text.data() + text.size();
  const auto run = std::from_chars(text.data(), end, run_ns);
  if (run.ec != std::errc{} || run.ptr == end || *run.ptr != ' ') return {};
  const auto wait = std::from_chars(run.ptr + 1, end, wait_ns);
  if (wait.ec != std::errc{}) return {};
  if (wait.ptr != end && *wait.ptr == ' ') std::from_chars(wait.ptr + 1, end, turns);
  return CpuTime{run_ns * 1e-9, wait_ns * 1e-9, turns};
}

std::optional<std::uint64_t> parse_start_time(std::string_view stat) { return field(stat, 22); }

pid_t parse_parent(std::string_view stat) { return static_cast<pid_t>(field(stat, 4).value_or(0)); }

std::vector<pid_t> parse_children(std::string_view text) {
  std::vector<pid_t> children;
  for (const std::string_view word : split(text, ' '))
    if (const auto number = parse_unsigned(word)) children.push_back(*number);
  return children;
}

std::optional<std::uint64_t> start_time_of(pid_t process, pid_t thread) {
  const auto stat =
      read_short(open_to_read(AT_FDCWD, fmt::format("/proc/{}/task/{}/stat", process, thread)));
  return stat ? parse_start_time(*stat) : std::nullopt;
}

pid_t parent_of(pid_t process) {
  const auto stat = read_short(open_to_read(AT_FDCWD, fmt::format("/proc/{}/stat", process)));
  return stat ? parse_parent(*stat) : 0;
}

char state_of(pid_t process) {
  const auto stat = read_short(open_to_read(AT_FDCWD, fmt::format("/proc/{}/stat", process)));
  const std::size_t command_end = stat ? stat->rfind(')') : std::string::npos;
  if (command_end == std::string::npos || command_end + 2 >= stat->size()) return 0;
  return (*stat)[command_end + 2];
}

std::string missing_in_proc() {
  for (const char* const path : {"/proc/thread-self/schedstat", "/proc/thread-self/stat"})
    if (!open_to_read(AT_FDCWD, path))
      return fmt::format("{} cannot be read: {}", path, std::strerror(errno));
  return "";
}

std::optional<CpuTime> read_time(const FoundThread& thread) {
  std::array<char, 96> buffer;
  const ssize_t count = ::pread(thread.schedstat.get(), buffer.data(), buffer.size(), 0);
  if (count <= 0) return {};
  auto time = parse_schedstat({buffer.data(), static_cast<std::size_t>(count)});
  if (const auto run_ns = time && thread.clock ? read_counter(thread.clock) : std::nullopt)
    time->run_s = thread.run_before_clock_s + *run_ns * 1e-9;
  return time;
}

LastBorn::LastBorn() : file_(::open("/proc/loadavg", O_RDONLY | O_CLOEXEC)) {}

std::optional<std::uint64_t> LastBorn::id() const {
  std::array<char, 128> buffer;
  const ssize_t count = ::pread(file_.get(), buffer.data(), buffer.size(), 0);
  if (count <= 0) return {};
  const std::string_view text(buffer.data(), count);
  // /proc/loadavg ends with the last id, for example: 0.20 0.18 0.12 1/80 11206
  const std::size_t last = text.rfind(' ') + 1;
  return parse_unsigned(text.substr(last, text.find('\n', last) - last));
}

ThreadFinder::ThreadFinder(pid_t root, bool with_adopted, pid_t not_followed,
                           std::size_t max_threads)
    : root_(root), not_followed_(not_followed), max_threads_(max_threads) {
  if (with_adopted) own_children_ = open_to_read(AT_FDCWD, "/proc/thread-self/children");
}

Changes ThreadFinder::scan() {
  Changes changes;
  std::set<pid_t> seen{::getpid(), not_followed_};
  std::vector<pid_t> waiting{root_};
  add_children(own_children_, waiting);
  while (!waiting.empty()) {
    const pid_t process = waiting.back();
    waiting.pop_back();
    if (seen.insert(process).second && !is_for_other(process))
      scan_process(process, waiting, changes);
  }
  for (auto process = processes_.begin(); process != processes_.end();) {
    if (seen.contains(process->first)) {
      ++process;
      continue;
    }
    for (const auto& [id, key] : process->second.key_of) {
      changes.died.push_back(key);
      threads_.erase(key);
    }
    process = processes_.erase(process);
  }
  return changes;
}

/// True if another balancer balances this process and its descendants. Known processes are not
/// checked again: this balancer's own lock keeps other balancers away from them.
bool ThreadFinder::is_for_other(pid_t process) {
  if (process == root_ || processes_.contains(process) || !is_claimed(process)) return false;
  meets_balancer_ = true;
  return true;
}

/// True if no thread of the process is new and none has ended since its threads were last listed.
bool ThreadFinder::is_as_seen(pid_t id, const Process& process) const {
  struct stat status {};
  if (!process.has_all || ::fstat(process.task.get(), &status) != 0 ||
      status.st_nlink != process.num_links || !is_ours(id))
    return false;
  return std::all_of(process.key_of.begin(), process.key_of.end(),
                     [&](const auto& known) { return read_time(threads_.at(known.second)); });
}

void ThreadFinder::scan_process(pid_t id, std::vector<pid_t>& children, Changes& changes) {
  Process& process = processes_[id];
  if (!is_as_seen(id, process)) list_threads(id, process, changes);
  for (const auto& [thread, key] : process.key_of)
    add_children(threads_.at(key).children, children);
  if (!process.has_all)
    for (const pid_t thread : numbers_in_folder(process.task.get()).value_or(std::vector<pid_t>()))
      if (!process.key_of.contains(thread))
        add_children(open_to_read(process.task.get(), fmt::format("{}/children", thread)),
                     children);
  if (process.key_of.empty()) processes_.erase(id);
}

/// Reads the folder of a process's threads. If no more files may be opened, the known threads are
/// kept.
void ThreadFinder::list_threads(pid_t id, Process& process, Changes& changes) {
  Descriptor folder(::open(fmt::format("/proc/{}", id).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  Descriptor task(folder ? ::openat(folder.get(), "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1);
  // The number of threads is read before the threads are listed. If a thread starts in between,
  // this number is outdated, and the next scan lists the threads again.
  struct stat status {};
  const bool is_of_user = task && ::fstat(task.get(), &status) == 0 && status.st_uid == ::geteuid();
  const auto numbers = task || !is_out_of_files() ? numbers_in_folder(task.get()) : std::nullopt;
  if (!numbers) {
    lacks_files_ = true;
    process.has_all = false;
    return;
  }
  process.folder = std::move(folder);
  process.task = std::move(task);
  std::map<pid_t, std::uint64_t> gone = std::exchange(process.key_of, {});
  process.has_all = true;
  if (is_of_user) {
    process.num_links = status.st_nlink;
    // The parent is read once per process, not per thread: the kernel visits all threads of the
    // process to make the file `stat`.
    process.parent = parent_of(id);
    for (const pid_t thread : *numbers) {
      const auto known = gone.find(thread);
      if (known != gone.end() && read_time(threads_.at(known->second))) {
        process.key_of.insert(gone.extract(known));
      } else {
        add_thread(id, thread, process, changes);
      }
    }
  }
  for (const auto& [thread, key] : gone) {
    threads_.erase(key);
    changes.died.push_back(key);
  }
}

void ThreadFinder::add_thread(pid_t process, pid_t id, Process& of, Changes& changes) {
  is_full_ = threads_.size() >= max_threads_;
  const int folder = of.task.get();
  FoundThread thread;
  thread.key = next_key_;
  thread.process = process;
  thread.id = id;
  thread.parent = of.parent;
  if (!is_full_) thread.schedstat = open_to_read(folder, fmt::format("{}/schedstat", id));
  if (thread.schedstat) thread.children = open_to_read(folder, fmt::format("{}/children", id));
  bool lacks_files = !is_full_ && !thread.children && is_out_of_files();
  if (thread.schedstat && !lacks_files && counts_run_times_) open_clock(thread);
  // The start time is read last, which shows that one more file can be opened. This is needed
  // later: before the thread's affinity is restored, its start time is read again.
  const auto start = thread.schedstat && !lacks_files ? start_time_of(process, id) : std::nullopt;
  lacks_files |= thread.schedstat && !start && is_out_of_files();
  lacks_files_ |= lacks_files;
  if (!start) {
    of.has_all = false;
    return;
  }
  thread.start_time = *start;
  thread.rank_in_process = of.threads_seen++;
  of.key_of[id] = next_key_;
  changes.born.push_back(next_key_);
  threads_.emplace(next_key_++, std::move(thread));
}

void ThreadFinder::open_clock(FoundThread& thread) {
  if (const auto time = read_time(thread)) thread.run_before_clock_s = time->run_s;
  thread.clock = open_counter(thread.id, Counted::time);
  lacks_clocks_ |= !thread.clock && errno != ESRCH;  // ESRCH: the thread has just ended
}

bool ThreadFinder::is_ours(pid_t process) const {
  const auto found = processes_.find(process);
  struct stat status {};
  return found != processes_.end() && ::fstat(found->second.folder.get(), &status) == 0 &&
         status.st_uid == ::geteuid();
}

bool ThreadFinder::has_new_child(std::uint64_t key) const {
  std::vector<pid_t> children;
  const auto thread = threads_.find(key);
  if (thread != threads_.end()) add_children(thread->second.children, children);
  return std::any_of(children.begin(), children.end(),
                     [&](pid_t child) { return !processes_.contains(child); });
}

bool ThreadFinder::has_changed() const {
  struct stat status {};
  for (const auto& [id, process] : processes_)
    if (::fstat(process.task.get(), &status) != 0 || status.st_nlink != process.num_links)
      return true;
  return false;
}

}  // namespace poise::juggle
