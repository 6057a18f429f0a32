// SPDX-License-Identifier: BSD-3-Clause
// Joins the files of all ranks. It numbers the tasks of a phase and finds the senders and receivers
// of its messages, which may be in the files of other ranks.
#include <algorithm>
#include <compare>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "poise/base/enum_index.h"
#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/trace/vt.h"

namespace poise::vt {

namespace {

/// Limit on the total size of all repeated phases. The size of a phase is the number of its tasks,
/// messages and ranks, plus kPhaseItself. In a file, a few bytes say that a phase repeats the
/// previous one, but the trace stores every copy, so without the limit a small file could fill the
/// memory.
constexpr std::size_t kMaxRepeated = std::size_t{1} << 24;
// Added to the size of each phase, so that the limit also holds for phases without tasks.
constexpr std::size_t kPhaseItself = 64;

/// The data of one rank for the phase that is being joined.
struct Part {
  const RankFile* file;
  const RankPhase* phase;
};

/// A task of the phase. It is either listed by a rank or known from messages only.
struct Entry {
  Key key = {};
  PlaceId place = 0;
  const RankTask* task = nullptr;
};

auto order_of(const Key& key) { return std::tuple(key.kind, key.id, key.home); }

bool comes_before(const Entry& a, const Entry& b) {
  return std::tuple(order_of(a.key), a.place) < std::tuple(order_of(b.key), b.place);
}

bool same_name(const Key& a, const Key& b) { return a.kind == b.kind && a.id == b.id; }

std::string describe(const Key& key) {
  if (key.kind == TaskName::Kind::place) return fmt::format("node {}", key.id);
  if (key.kind == TaskName::Kind::id) return fmt::format("the task with id {}", key.id);
  return key.home < 0 ? fmt::format("the task with seq_id {}", key.id)
                      : fmt::format("the task with seq_id {} of home {}", key.id, key.home);
}

struct NameHash {
  std::size_t operator()(const Key& key) const { return mix(key.id * 4 + index_of(key.kind)); }
};

struct NameEqual {
  bool operator()(const Key& a, const Key& b) const { return same_name(a, b); }
};

/// Numbers the tasks of a phase and finds them by name. The tasks that ranks list come first, in
/// the order of their keys; then come the senders and receivers that no rank lists.
class Tasks {
 public:
  Tasks(std::span<const Part> parts, std::uint64_t phase_id) : parts_(parts), phase_id_(phase_id) {
    for (const Part& part : parts)
      for (const RankTask& task : part.phase->tasks)
        entries_.push_back({task.key, part.file->rank, &task});
    std::sort(entries_.begin(), entries_.end(), comes_before);
    num_listed_ = entries_.size();
    first_of_name_.reserve(num_listed_);
    for (std::size_t t = 0; t < num_listed_; ++t) {
      const Entry& entry = entries_[t];
      if (t > 0 && order_of(entries_[t - 1].key) == order_of(entry.key))
        fail("{}: phase {}: there is a second entry for {}; the first entry is in {}",
             file_of(entry.place), phase_id, describe(entry.key), file_of(entries_[t - 1].place));
      first_of_name_.try_emplace(entry.key, t);
    }
  }

  /// Returns the number of a task that sends or receives a message in the file of rank `part`. A
  /// task that no rank lists is added if it cannot migrate. If it can migrate, throws Error.
  std::size_t find(const Part& part, const Key& key, bool movable, const char* which) {
    if (key.kind != TaskName::Kind::place)
      if (const auto listed = find_listed(part, key, which)) return *listed;
    if (movable)
      fail("{}: phase {}: the {} of a message is {}, but no rank lists that task in this phase",
           part.file->name, phase_id_, which, describe(key));
    return find_or_add_unlisted(part, key, which);
  }

  /// Returns all tasks in the order of their keys, and for each task number its index in this
  /// order.
  std::pair<std::vector<Entry>, std::vector<TaskId>> in_order() const {
    std::vector<std::size_t> order(entries_.size());
    for (std::size_t t = 0; t < order.size(); ++t) order[t] = t;
    const auto is_before = [&](auto a, auto b) { return comes_before(entries_[a], entries_[b]); };
    std::sort(order.begin(), order.end(), is_before);
    std::pair<std::vector<Entry>, std::vector<TaskId>> result;
    result.second.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      result.first.push_back(entries_[order[i]]);
      result.second[order[i]] = i;
    }
    return result;
  }

 private:
  const std::string& file_of(PlaceId rank) const { return parts_[rank].file->name; }

  std::optional<std::size_t> find_listed(const Part& part, const Key& key,
                                         const char* which) const {
    const auto found = first_of_name_.find(key);
    if (found == first_of_name_.end()) return std::nullopt;
    const std::size_t first = found->second;
    const bool is_only_one = first + 1 == num_listed_ || !same_name(entries_[first + 1].key, key);
    if (is_only_one || key.kind == TaskName::Kind::id) return first;

    const auto begin = entries_.begin() + first;
    const auto end = entries_.begin() + num_listed_;
    const auto entry = std::lower_bound(begin, end, Entry{key}, comes_before);
    if (entry == end || order_of(entry->key) != order_of(key))
      fail(
          "{}: phase {}: the {} of a message is {}; several tasks have this seq_id, so the message "
          "must state the home of one of them",
          part.file->name, phase_id_, which, describe(key));
    return entry - entries_.begin();
  }

  std::size_t find_or_add_unlisted(const Part& part, Key key, const char* which) {
    const std::int64_t home = key.kind == TaskName::Kind::place ? key.id : key.home;
    if (home < 0 || home >= std::ssize(parts_))
      fail(
          "{}: phase {}: the {} of a message is {}, which no rank lists; the home of such an "
          "object must be a rank from 0 to {}, but it is {}",
          part.file->name, phase_id_, which, describe(key), parts_.size() - 1, home);
    if (key.kind != TaskName::Kind::sequence) key.home = -1;
    const auto [found, is_new] = unlisted_.try_emplace(order_of(key), entries_.size());
    if (is_new) entries_.emplace_back(key, home, nullptr);
    return found->second;
  }

  std::span<const Part> parts_;
  std::uint64_t phase_id_;
  std::size_t num_listed_ = 0;
  std::vector<Entry> entries_;
  std::unordered_map<Key, std::size_t, NameHash, NameEqual> first_of_name_;
  std::map<std::tuple<TaskName::Kind, std::uint64_t, std::int64_t>, std::size_t> unlisted_;
};

std::vector<Message> join_messages(std::span<const Part> parts, Tasks& tasks) {
  std::vector<Message> messages;
  for (const Part& part : parts)
    for (const RankMessage& message : part.phase->messages) {
      const std::size_t from = tasks.find(part, message.from, message.from_movable, "sender");
      const std::size_t to = tasks.find(part, message.to, message.to_movable, "receiver");
      messages.emplace_back(from, to, message.count, message.bytes);
    }
  return messages;
}

/// Finds the shared blocks by their ids in the files. Tasks that share a block must agree on its
/// size.
std::map<std::int64_t, std::pair<std::int32_t, std::uint64_t>> find_shared_blocks(
    std::span<const Part> parts, std::uint64_t phase_id) {
  std::map<std::int64_t, std::pair<std::int32_t, std::uint64_t>> blocks;
  for (const Part& part : parts)
    for (const RankTask& task : part.phase->tasks) {
      if (task.shared_id < 0) continue;
      const auto [block, is_new] = blocks.try_emplace(task.shared_id, 0, task.shared_bytes);
      if (!is_new && block->second.second != task.shared_bytes)
        fail(
            "{}: phase {}: shared block {} has {} bytes according to one task, but {} bytes "
            "according to another",
            part.file->name, phase_id, task.shared_id, task.shared_bytes, block->second.second);
    }
  std::int32_t index = 0;
  for (auto& [id, block] : blocks) block.first = index++;
  return blocks;
}

void join_memory(std::span<const Part> parts, std::span<const Entry> entries, Phase& phase) {
  const auto has_memory = [](const Entry& e) { return e.task && e.task->has_memory; };
  if (std::none_of(entries.begin(), entries.end(), has_memory)) return;
  const auto blocks = find_shared_blocks(parts, phase.id);
  for (const auto& [id, block] : blocks) phase.workload.shared_block_bytes.push_back(block.second);
  for (const Entry& entry : entries) {
    TaskMemory& memory = phase.workload.memory.emplace_back();
    if (!entry.task) continue;
    memory = entry.task->memory;
    if (entry.task->shared_id >= 0) memory.shared_block = blocks.at(entry.task->shared_id).first;
  }
}

void join_homes(std::span<const Part> parts, std::span<const Entry> entries, Phase& phase) {
  const auto has_home = [](const Entry& e) { return e.task && e.task->home >= 0; };
  if (std::none_of(entries.begin(), entries.end(), has_home)) return;
  for (const Entry& entry : entries) {
    const std::int64_t home = has_home(entry) ? entry.task->home : entry.place;
    if (home >= std::ssize(parts))
      fail("{}: phase {}: the home of {} is rank {}, but there are {} ranks",
           parts[entry.place].file->name, phase.id, describe(entry.key), home, parts.size());
    phase.workload.homes.push_back(home);
  }
}

void join_optional_columns(std::span<const Entry> entries, Phase& phase) {
  const auto has_position = [](const Entry& e) { return e.task && e.task->position; };
  const auto has_subphases = [](const Entry& e) {
    return e.task && !e.task->subphase_load_s.empty();
  };
  if (std::any_of(entries.begin(), entries.end(), has_position))
    for (const Entry& entry : entries)
      phase.workload.positions.push_back(has_position(entry) ? *entry.task->position
                                                             : std::array<double, 3>{});
  if (std::any_of(entries.begin(), entries.end(), has_subphases))
    for (const Entry& entry : entries)
      phase.workload.subphase_load_s.push_back(entry.task ? entry.task->subphase_load_s
                                                          : std::vector<double>{});
}

/// True if the name is only the task's number, as vt_write.cc writes it for tasks without names.
bool is_named_by_number(const TaskName& name, TaskId t) {
  return name == TaskName{t, 0, {}, -1, TaskName::Kind::sequence};
}

void join_names(std::span<const Entry> entries, Phase& phase) {
  bool is_needed = false;
  for (const Entry& entry : entries) {
    const TaskId t = phase.names.size();
    phase.names.push_back(entry.task ? entry.task->name
                                     : TaskName{entry.key.id, -1, {}, -1, entry.key.kind});
    is_needed |= !is_named_by_number(phase.names.back(), t);
  }
  if (!is_needed) phase.names.clear();
}

void join_places(std::span<const Part> parts, Phase& phase) {
  std::vector<double> background_s;
  std::vector<std::uint64_t> bytes;
  for (const Part& part : parts) {
    background_s.push_back(part.phase->background_s);
    bytes.push_back(part.phase->place_bytes);
    phase.wall_s = std::max(phase.wall_s, part.phase->wall_s);
    Workload& workload = phase.workload;
    workload.loads_include = std::max(workload.loads_include, part.phase->loads_include);
    workload.overlap = std::max(workload.overlap, part.phase->overlap);
  }
  const auto is_set = [](auto value) { return value > 0; };
  if (std::any_of(background_s.begin(), background_s.end(), is_set))
    phase.workload.background_s = std::move(background_s);
  if (std::any_of(bytes.begin(), bytes.end(), is_set))
    phase.workload.place_bytes = std::move(bytes);
}

Phase join_phase(std::span<const Part> parts, std::uint64_t id) {
  Tasks tasks(parts, id);
  Phase phase;
  phase.id = id;
  std::vector<Message> messages = join_messages(parts, tasks);
  const auto [entries, position] = tasks.in_order();
  if (entries.size() > std::numeric_limits<TaskId>::max())
    fail("{}: phase {}: there are more than {} tasks", parts[0].file->name, id,
         std::numeric_limits<TaskId>::max());
  for (Message& message : messages) {
    message.from = position[message.from];
    message.to = position[message.to];
  }
  // The files list messages by the rank of their sender. The order of messages affects the rounding
  // of sums and the choice between equally good placements, so it must not depend on where the
  // tasks ran.
  std::ranges::stable_sort(messages, {}, [](const Message& m) { return std::pair(m.from, m.to); });
  phase.workload.messages = std::move(messages);
  std::vector<PlaceId> places;
  for (const Entry& entry : entries) {
    phase.workload.tasks.push_back(entry.task ? entry.task->task : Task{0, 0, false});
    places.push_back(entry.place);
  }
  phase.placement = Placement(std::move(places));
  join_homes(parts, entries, phase);
  join_memory(parts, entries, phase);
  join_optional_columns(entries, phase);
  join_names(entries, phase);
  join_places(parts, phase);
  return phase;
}

/// Returns the data of each rank for the phase. A rank whose file has no phases had no tasks.
std::vector<Part> parts_of_phase(const std::vector<RankFile>& files, std::uint64_t id) {
  static const RankPhase kNothing;
  std::vector<Part> parts;
  for (const RankFile& file : files) {
    const auto found = file.phase_of_id.find(id);
    if (found == file.phase_of_id.end() && !file.phases.empty())
      fail("{}: phase {} is missing in this file, but the files of other ranks have it", file.name,
           id);
    parts.push_back({&file, file.phases.empty() ? &kNothing : &file.phases[found->second]});
  }
  return parts;
}

bool has_tasks_or_messages(std::span<const Part> parts) {
  return std::ranges::any_of(parts, [](const Part& part) {
    return !part.phase->tasks.empty() || !part.phase->messages.empty();
  });
}

std::size_t size_of(std::span<const Part> parts) {
  std::size_t size = kPhaseItself + parts.size();
  for (const Part& part : parts) size += part.phase->tasks.size() + part.phase->messages.size();
  return size;
}

/// Returns the machine if each of its nodes has the same number of ranks, with consecutive numbers.
/// Otherwise returns nothing, because a Machine numbers its places node by node.
std::optional<Machine> machine_of(std::span<const RankFile> files) {
  std::set<std::uint64_t> nodes;
  std::size_t per_node = 0;  // number of ranks of the first node
  for (std::size_t r = 0; r < files.size(); ++r) {
    if (!files[r].node) return std::nullopt;
    const bool begins = r == 0 || files[r].node != files[r - 1].node;
    if (begins && !nodes.insert(*files[r].node).second) return std::nullopt;
    if (nodes.size() == 1) ++per_node;
    if (begins != (r % per_node == 0)) return std::nullopt;
  }
  if (files.size() != per_node * nodes.size()) return std::nullopt;
  return machine_from_text(fmt::format("node:{} core:{}", nodes.size(), per_node));
}

}  // namespace

Trace join(std::vector<RankFile> files) {
  Trace trace;
  trace.num_places = files.size();
  trace.machine = machine_of(files);
  std::set<std::uint64_t> ids;
  std::size_t max_size = kMaxRepeated;
  for (const RankFile& file : files) {
    for (const auto& [id, index] : file.phase_of_id) ids.insert(id);
    for (const RankPhase& phase : file.phases)
      max_size += phase.tasks.size() + phase.messages.size() + 1 + kPhaseItself;
  }
  if (ids.empty()) fail("{}: the trace has no phases; at least 1 is needed", files.at(0).name);
  std::size_t size = 0;
  for (const std::uint64_t id : ids) {
    const std::vector<Part> parts = parts_of_phase(files, id);
    size += size_of(parts);
    if (size > max_size)
      fail(
          "{}: phase {}: \"identical_to_previous\" repeats phases so often that the trace is too "
          "large; list fewer phases under this key",
          files[0].name, id);
    // vt writes a phase without tasks as long as the program has created no task.
    if (has_tasks_or_messages(parts)) trace.phases.push_back(join_phase(parts, id));
  }
  if (trace.phases.empty()) fail("{}: no phase of the trace has tasks", files[0].name);
  return trace;
}

}  // namespace poise::vt
