// SPDX-License-Identifier: BSD-3-Clause
// Writes the native format, with one function per part of the file. Reference: docs/formats.md.
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "poise/base/check.h"
#include "poise/base/enum_index.h"
#include "poise/base/error.h"
#include "poise/machine/json.h"
#include "poise/trace/crc32.h"
#include "poise/trace/native.h"

namespace poise::native {

namespace {

constexpr std::uint32_t kVersion = 1;

template <typename Unsigned>
void add_fixed(std::string& bytes, Unsigned value) {
  char buffer[sizeof value];
  for (std::size_t i = 0; i < sizeof value; ++i) buffer[i] = static_cast<char>(value >> (8 * i));
  bytes.append(buffer, sizeof value);
}

void add_f64(std::string& bytes, double value) {
  add_fixed(bytes, std::bit_cast<std::uint64_t>(value));
}

/// Writes a number in groups of seven bits, lowest first; the top bit of a byte says that another
/// byte follows.
void add_varint(std::string& bytes, std::uint64_t value) {
  char buffer[10];
  std::size_t size = 0;
  for (; value >= 0x80; value >>= 7) buffer[size++] = static_cast<char>(value | 0x80);
  buffer[size++] = static_cast<char>(value);
  bytes.append(buffer, size);
}

/// Encodes 0, -1, 1, -2, 2, ... as 0, 1, 2, 3, 4, ...
void add_signed(std::string& bytes, std::int64_t value) {
  add_varint(bytes, (value << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0));
}

void add_section(std::string& file, std::string_view tag, std::string_view payload) {
  POISE_CHECK(tag.size() == 4);
  std::string head(tag);
  add_fixed(head, payload.size());
  add_fixed(file, crc32(payload, crc32(head)));
  file += head;
  file += payload;
}

void add_column(std::string& payload, std::string_view name, std::string_view data) {
  add_varint(payload, name.size());
  payload += name;
  add_varint(payload, data.size());
  payload += data;
}

/// Writes a column of a table; add(data, item) appends the entry of one item. Writes nothing if
/// there are no items.
template <typename Items, typename Add>
void add_column_of(std::string& payload, std::string_view name, const Items& items,
                   const Add& add) {
  if (items.empty()) return;
  std::string data;
  for (const auto& item : items) add(data, item);
  add_column(payload, name, data);
}

void add_name(std::string& data, const TaskName& name) {
  add_varint(data, index_of(name.kind));
  add_varint(data, name.id);
  add_signed(data, name.collection);
  add_signed(data, name.object_group);
  add_varint(data, name.index.size());
  for (const std::int64_t i : name.index) add_signed(data, i);
}

void add_tasks(std::string& payload, const Phase& phase) {
  const Workload& workload = phase.workload;
  add_column_of(payload, "load_s", workload.tasks,
                [](std::string& data, const Task& task) { add_f64(data, task.load_s); });
  add_column_of(payload, "bytes", workload.tasks,
                [](std::string& data, const Task& task) { add_varint(data, task.bytes); });
  std::string pinned((workload.tasks.size() + 7) / 8, '\0');
  for (std::size_t t = 0; t < workload.tasks.size(); ++t)
    if (!workload.tasks[t].movable) pinned[t / 8] = static_cast<char>(pinned[t / 8] | 1 << t % 8);
  add_column(payload, "pinned", pinned);
  add_column_of(payload, "place", phase.placement.places(), add_varint);
}

void add_messages(std::string& payload, const std::vector<Message>& messages) {
  TaskId before = 0;
  add_column_of(payload, "from", messages, [&](std::string& data, const Message& message) {
    add_signed(data, static_cast<std::int64_t>(message.from) - std::exchange(before, message.from));
  });
  add_column_of(payload, "to", messages, [](std::string& data, const Message& message) {
    add_signed(data, static_cast<std::int64_t>(message.to) - message.from);
  });
  add_column_of(payload, "count", messages,
                [](std::string& data, const Message& message) { add_varint(data, message.count); });
  add_column_of(payload, "message_bytes", messages,
                [](std::string& data, const Message& message) { add_varint(data, message.bytes); });
}

void add_position(std::string& data, const std::array<double, 3>& position) {
  for (const double x : position) add_f64(data, x);
}

void add_memory(std::string& data, const TaskMemory& memory) {
  add_varint(data, memory.footprint_bytes);
  add_varint(data, memory.working_bytes);
  add_signed(data, memory.shared_block);
}

void add_subphases(std::string& data, const std::vector<double>& loads_s) {
  add_varint(data, loads_s.size());
  for (const double load_s : loads_s) add_f64(data, load_s);
}

void add_optional_columns(std::string& payload, const Phase& phase) {
  const Workload& workload = phase.workload;
  add_column_of(payload, "background_s", workload.background_s, add_f64);
  add_column_of(payload, "position", workload.positions, add_position);
  add_column_of(payload, "home", workload.homes, add_varint);
  add_column_of(payload, "memory", workload.memory, add_memory);
  add_column_of(payload, "shared_block_bytes", workload.shared_block_bytes, add_varint);
  add_column_of(payload, "place_bytes", workload.place_bytes, add_varint);
  add_column_of(payload, "name", phase.names, add_name);
  add_column_of(payload, "subphase_load_s", phase.workload.subphase_load_s, add_subphases);
  std::string costs;
  if (workload.loads_include != LoadsInclude::none || workload.overlap != 0) {
    add_varint(costs, index_of(workload.loads_include));
    add_f64(costs, workload.overlap);
    add_column(payload, "communication", costs);
  }
}

std::string file_head(std::uint32_t num_places, const Machine* machine) {
  std::string file(kMagic);
  add_fixed(file, kVersion);
  std::string places;
  add_varint(places, num_places);
  add_section(file, "head", places);
  if (machine) add_section(file, "mach", machine_to_json(*machine));
  return file;
}

std::string phase_section(const Phase& phase) {
  std::string payload;
  add_varint(payload, phase.id);
  add_f64(payload, phase.wall_s);
  add_varint(payload, phase.workload.tasks.size());
  add_varint(payload, phase.workload.messages.size());
  add_tasks(payload, phase);
  add_messages(payload, phase.workload.messages);
  add_optional_columns(payload, phase);
  std::string section;
  add_section(section, "phas", payload);
  return section;
}

std::string end_section(std::uint64_t num_phases) {
  std::string payload, section;
  add_varint(payload, num_phases);
  add_section(section, "end ", payload);
  return section;
}

/// Creates or empties the file, and locks it, because two recordings in one file would overwrite
/// each other. Devices and pipes are neither emptied nor locked.
int create(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  struct stat status {};
  if (file >= 0 && ::fstat(file, &status) == 0 && !S_ISREG(status.st_mode)) return file;
  const bool is_locked = file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (file >= 0 && !is_locked && ::ftruncate(file, 0) == 0) return file;
  const int error = errno;
  if (file >= 0) ::close(file);
  if (is_locked)
    fail(
        "cannot write {}: another recording is being written to it; each collection of objects, "
        "and each run, needs a file of its own",
        path);
  fail("cannot write {}: {}", path, std::strerror(error));
}

}  // namespace

std::string write(const Trace& trace, const std::vector<Attachment>& attachments) {
  std::string file = file_head(trace.num_places, trace.machine ? &*trace.machine : nullptr);
  for (const Phase& phase : trace.phases) file += phase_section(phase);
  for (const Attachment& own : attachments) add_section(file, own.tag, own.payload);
  file += end_section(trace.phases.size());
  const std::uint32_t max_places = max_places_of(file.size());
  if (trace.num_places > max_places)
    fail(
        "the trace has {} places, but its .poise file of {} bytes may list at most {} places, a "
        "limit that depends on the size of the file",
        trace.num_places, file.size(), max_places);
  return file;
}

Recording::Recording(const std::string& path, std::uint32_t num_places, const Machine* machine)
    : path_(path), file_(create(path)) {
  append(file_head(num_places, machine));
}

Recording::~Recording() {
  if (file_ >= 0) ::close(file_);
}

void Recording::add(const Phase& phase) {
  append(phase_section(phase));
  ++num_phases_;
}

void Recording::finish() {
  append(end_section(num_phases_));
  if (::close(std::exchange(file_, -1)) != 0)
    fail("cannot write {}: {}", path_, std::strerror(errno));
}

void Recording::append(std::string_view bytes) {
  POISE_CHECK(file_ >= 0);
  const std::uint64_t size = size_ + bytes.size();
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      // Removes the incomplete phase, because readers would stop at it and miss phases added later.
      if (::ftruncate(file_, size_) == 0) ::lseek(file_, size_, SEEK_SET);
      fail("cannot write {}: {}", path_, std::strerror(error));
    }
    bytes.remove_prefix(written);
  }
  size_ = size;
}

}  // namespace poise::native
