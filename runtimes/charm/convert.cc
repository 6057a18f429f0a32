// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/convert.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "poise/base/error.h"

namespace poise::charm {

namespace {

/// Maps an object's name to the number of its bucket. Only some bits differ between the names of
/// objects. The number consists of the highest of these bits, so the buckets are in the order of
/// the names. There are at most about four times as many buckets as names.
class Prefix {
 public:
  explicit Prefix(const Statistics& statistics) {
    const std::size_t num_objects = statistics.num_objects();
    const ObjectName first = num_objects > 0 ? statistics.object(0).name : ObjectName{};
    std::uint64_t ids = 0, arrays = 0;
    for (std::size_t i = 1; i < num_objects; ++i) {
      const ObjectName name = statistics.object(i).name;
      ids |= name.id ^ first.id;
      arrays |= bits_of(name.array) ^ bits_of(first.array);
    }
    const int num_id_bits = std::popcount(ids), all = num_id_bits + std::popcount(arrays);
    num_bits_ = std::min<int>(all, std::bit_width(num_objects) + 1);
    const int cut = all - num_bits_;
    id_bits_ = std::max(0, num_id_bits - cut);
    id_runs_ = runs_of(ids, cut);
    array_runs_ = runs_of(arrays, std::max(0, cut - num_id_bits));
    // An id usually has the coordinates of an object in up to three fields of bits, so the bits in
    // which ids differ form at most three runs. An array of fixed size lets the compiler unroll the
    // loop over the runs.
    id_runs_.resize(std::max(id_runs_.size(), first_runs_.size()));
    std::copy_n(id_runs_.begin(), first_runs_.size(), first_runs_.begin());
    id_runs_.erase(id_runs_.begin(), id_runs_.begin() + first_runs_.size());
  }

  std::uint32_t num_values() const { return std::uint32_t{1} << num_bits_; }

  std::uint32_t operator()(const ObjectName& name) const {
    std::uint64_t value = 0, of_array = 0;
    for (const Run& run : first_runs_) value |= run.of(name.id);
    for (const Run& run : id_runs_) value |= run.of(name.id);
    for (const Run& run : array_runs_) of_array |= run.of(bits_of(name.array));
    return value | of_array << id_bits_;
  }

 private:
  struct Run {
    std::uint64_t mask = 0, down = 0;
    std::uint64_t of(std::uint64_t bits) const { return (bits & mask) >> down; }
  };

  static std::uint64_t bits_of(std::int32_t array) { return array ^ 0x80000000u; }

  /// Clears the lowest `cut` of the bits that are set in `bits`, and returns the runs of adjacent
  /// set bits that remain.
  static std::vector<Run> runs_of(std::uint64_t bits, int cut) {
    for (; cut > 0 && bits != 0; --cut) bits &= bits - 1;
    std::vector<Run> runs;
    for (int to = 0; bits != 0;) {
      const int from = std::countr_zero(bits);
      const std::uint64_t mask = bits & ~(bits + (std::uint64_t{1} << from));
      runs.emplace_back(mask, from - to);
      bits ^= mask;
      to += std::popcount(mask);
    }
    return runs;
  }

  std::array<Run, 3> first_runs_;
  std::vector<Run> id_runs_, array_runs_;
  int num_bits_ = 0, id_bits_ = 0;
};

/// Numbers the objects in the order of their names: by array, then by id. Names with the same
/// leading bits share a bucket. With dense ids a bucket holds one name; otherwise it holds a few,
/// which are sorted.
class Directory {
 public:
  static constexpr TaskId kUnknown = ~TaskId{0};

  explicit Directory(const Statistics& statistics)
      : statistics_(statistics),
        prefix_(statistics),
        first_of_bucket_(prefix_.num_values() + 1),
        task_of_row_(statistics.num_objects()),
        row_of_task_(statistics.num_objects()) {
    std::uint32_t most = 0;
    for (std::size_t row = 0; row < task_of_row_.size(); ++row) {
      // Until tasks are numbered, this array holds the index of each object's bucket, plus 1.
      task_of_row_[row] = prefix_(name_of(row)) + 1;
      most = std::max(most, ++first_of_bucket_[task_of_row_[row]]);
    }
    std::uint32_t sum = 0;
    for (std::uint32_t& first : first_of_bucket_) sum += std::exchange(first, sum);
    // The loop moves first_of_bucket_[b] from the start of bucket b to its end, which is the start
    // of bucket b + 1.
    for (std::uint32_t row = 0; row < task_of_row_.size(); ++row) {
      task_of_row_[row] = first_of_bucket_[task_of_row_[row]]++;
      row_of_task_[task_of_row_[row]] = row;
    }
    if (most > 1) sort_buckets();
  }

  const std::vector<TaskId>& task_of_row() const { return task_of_row_; }
  const std::vector<std::uint32_t>& row_of_task() const { return row_of_task_; }
  std::vector<std::uint32_t> take_row_of_task() { return std::move(row_of_task_); }

  /// Stores the names of the objects in the order of their task numbers, for task_of(). Only the
  /// conversion of messages needs it.
  void remember_names() {
    names_.reserve(row_of_task_.size());
    for (const std::uint32_t row : row_of_task_) names_.push_back(name_of(row));
  }

  TaskId task_of(const ObjectName& name) const {
    const std::uint32_t bucket = prefix_(name);
    const auto end = names_.begin() + first_of_bucket_[bucket + 1];
    const auto at =
        std::lower_bound(names_.begin() + first_of_bucket_[bucket], end, name, comes_before);
    return at != end && same(*at, name) ? static_cast<TaskId>(at - names_.begin()) : kUnknown;
  }

 private:
  ObjectName name_of(std::size_t row) const { return statistics_.object(row).name; }

  void sort_buckets() {
    for (std::uint32_t bucket = 0; bucket < prefix_.num_values(); ++bucket) {
      const auto first = row_of_task_.begin() + first_of_bucket_[bucket],
                 end = row_of_task_.begin() + first_of_bucket_[bucket + 1];
      if (end - first < 2) continue;
      std::sort(first, end, [&](std::uint32_t a, std::uint32_t b) {
        return comes_before(name_of(a), name_of(b));
      });
      const auto twin = std::adjacent_find(first, end, [&](std::uint32_t a, std::uint32_t b) {
        return same(name_of(a), name_of(b));
      });
      if (twin != end)
        fail("object {} of array {} appears twice in the statistics", name_of(*twin).id,
             name_of(*twin).array);
    }
    for (TaskId t = 0; t < row_of_task_.size(); ++t) task_of_row_[row_of_task_[t]] = t;
  }

  const Statistics& statistics_;
  Prefix prefix_;
  std::vector<std::uint32_t> first_of_bucket_;
  std::vector<TaskId> task_of_row_;
  std::vector<std::uint32_t> row_of_task_;
  std::vector<ObjectName> names_;
};

/// Collects the messages between tasks. The sender of a message may be a PE instead of an object.
/// Such a PE gets a task only in add_senders(). Until then, `from` of its messages is num_objects
/// plus the index of the PE.
class Resolver {
 public:
  Resolver(const PeMap& pe_map, const Directory& directory, const Statistics& statistics,
           const std::vector<PlaceId>& places)
      : pe_map_(pe_map),
        directory_(directory),
        statistics_(statistics),
        places_(places),
        num_objects_(statistics.num_objects()),
        lists_outside_(!statistics.has_all_pes) {
    for (const std::uint32_t pe : pe_map.pe_of_place)
      number_of_place_.push_back(statistics.pes[pe].number);
  }

  void add(const MessageRow& row, const std::vector<ObjectName>& receivers) {
    const std::size_t num_pes = pe_map_.place_of_pe.size();
    if (row.from_pe >= std::ssize(pe_map_.place_of_pe) || row.from_pe < -1)
      fail("PE {} sends a message, but there are {} PEs", row.from_pe, num_pes);
    if (std::uint64_t{row.first_receiver} + row.num_receivers > receivers.size())
      fail(
          "a multicast has {} receivers, starting at row {} of the list of receivers; this "
          "list has only {} rows",
          row.num_receivers, row.first_receiver, receivers.size());
    const bool from_object = row.from_pe == -1;
    if (!from_object && pe_map_.place_of_pe[row.from_pe] == kNoPlace) return;
    const TaskId from = from_object ? directory_.task_of(row.from) : num_objects_ + row.from_pe;
    if (from == Directory::kUnknown) return;
    if (row.num_receivers == 0 && !add(from, row.to, row) && lists_outside_ &&
        row.last_known_pe >= 0)
      outside_.push_back({row.to, row.last_known_pe, from});
    for (std::uint32_t i = 0; i < row.num_receivers; ++i) {
      const std::uint32_t member = is_reversed_ ? row.num_receivers - 1 - i : i;
      add(from, receivers[row.first_receiver + member], row);
    }
  }

  /// After this call, add() takes the receivers of a multicast in reverse order, from the last one
  /// to the first.
  void reverse() { is_reversed_ = true; }

  std::vector<Message>& messages() { return messages_; }
  std::vector<OutsideMessage>& outside() { return outside_; }
  std::vector<Detour>& detours() { return detours_; }

 private:
  /// Returns false if the receiver has no row.
  bool add(TaskId from, const ObjectName& to, const MessageRow& row) {
    const TaskId task = directory_.task_of(to);
    if (task == Directory::kUnknown) return false;
    messages_.push_back({from, task, row.messages, row.bytes});
    if (row.num_receivers > 0 || row.last_known_pe < 0) return true;
    const std::int32_t pe = number_of_pe(task);
    if (pe >= 0 && pe != row.last_known_pe) detours_.push_back({from, task});
    return true;
  }

  /// Returns the number that Charm++ gives the PE that has the object. The object's place
  /// identifies this PE only if all PEs are available: an object on an unavailable PE is assigned
  /// another PE's place.
  std::int32_t number_of_pe(TaskId object) const {
    if (pe_map_.pe_of_place.size() == pe_map_.place_of_pe.size())
      return number_of_place_[places_[object]];
    return statistics_.pes[statistics_.object(directory_.row_of_task()[object]).pe].number;
  }

  const PeMap& pe_map_;
  const Directory& directory_;
  const Statistics& statistics_;
  const std::vector<PlaceId>& places_;
  std::vector<std::int32_t> number_of_place_;  // Charm++'s number of each place's PE
  TaskId num_objects_;
  bool lists_outside_, is_reversed_ = false;
  std::vector<Message> messages_;
  std::vector<OutsideMessage> outside_;
  std::vector<Detour> detours_;
};

Resolver resolved(const Statistics& statistics, const PeMap& pe_map, Directory& directory,
                  const std::vector<PlaceId>& places) {
  directory.remember_names();
  Resolver resolver(pe_map, directory, statistics, places);
  const MessageSource& more = statistics.more_messages;
  resolver.messages().reserve(statistics.messages.size() + more.count);
  for (const MessageRow& row : statistics.messages) resolver.add(row, statistics.receivers);
  if (!more.visit_all) return resolver;
  const std::size_t num_stored = resolver.messages().size();
  if (more.frees_from_last) resolver.reverse();
  more.visit_all([&](const MessageRow& row, const std::vector<ObjectName>& receivers) {
    resolver.add(row, receivers);
  });
  if (more.frees_from_last)
    std::reverse(resolver.messages().begin() + num_stored, resolver.messages().end());
  return resolver;
}

/// Adds one pinned task for each PE that sends messages, in the order of the PEs.
void add_senders(const PeMap& pe_map, Workload& workload, std::vector<Detour>& detours,
                 std::vector<PlaceId>& places) {
  const TaskId num_objects = workload.num_tasks();
  std::vector<TaskId> task_of_pe(pe_map.place_of_pe.size(), 0);
  for (const Message& message : workload.messages)
    if (message.from >= num_objects) task_of_pe[message.from - num_objects] = 1;
  for (std::size_t pe = 0; pe < task_of_pe.size(); ++pe) {
    if (task_of_pe[pe] == 0) continue;
    task_of_pe[pe] = workload.num_tasks();
    workload.tasks.push_back({0, 0, false});
    places.push_back(pe_map.place_of_pe[pe]);
  }
  for (Message& message : workload.messages)
    if (message.from >= num_objects) message.from = task_of_pe[message.from - num_objects];
  for (Detour& detour : detours)
    if (detour.from >= num_objects) detour.from = task_of_pe[detour.from - num_objects];
}

}  // namespace

Converted converted(const Statistics& statistics, const PeMap& pe_map,
                    std::span<const double> speed_of_place, Messages messages) {
  if (pe_map.pe_of_place.empty())
    fail("all PEs are marked unavailable; at least one must be available");
  const std::uint32_t num_places = pe_map.pe_of_place.size();
  Converted result;
  Directory directory(statistics);
  Workload& workload = result.phase.workload;
  // The loads that Charm++ measures include the time for messages (Pilla et al., ICPP 2012, IV).
  workload.loads_include = LoadsInclude::send_and_receive;
  workload.tasks.resize(statistics.num_objects());
  std::vector<PlaceId> places(statistics.num_objects());
  for (std::size_t row = 0; row < statistics.num_objects(); ++row) {
    const ObjectRow object = statistics.object(row);
    const TaskId t = directory.task_of_row()[row];
    if (object.pe < 0 || static_cast<std::size_t>(object.pe) >= pe_map.place_of_pe.size())
      fail("object {} of array {} is on PE {}, but there are {} PEs", object.name.id,
           object.name.array, object.pe, pe_map.place_of_pe.size());
    if (!(object.wall_s >= 0) || !std::isfinite(object.wall_s))
      fail("object {} of array {} has a load of {} s; it must be finite and at least 0",
           object.name.id, object.name.array, object.wall_s);
    const PlaceId place = pe_map.place_of_pe[object.pe];
    if (place != kNoPlace) {
      workload.tasks[t] = {object.wall_s * speed_of_place[place], object.bytes, object.movable};
      places[t] = place;
    } else {  // unavailable PE: a movable object leaves it; a pinned one stays without its load
      workload.tasks[t] = {object.movable ? object.wall_s : 0, object.bytes, object.movable};
      places[t] = t % num_places;
    }
  }
  for (const std::uint32_t pe : pe_map.pe_of_place) {
    const double background_s = statistics.pes[pe].background_s;
    if (!std::isfinite(background_s))
      fail("PE {} has a background load of {} s; it must be finite", pe, background_s);
    workload.background_s.push_back(std::max(0.0, background_s));
  }
  if (messages == Messages::convert) {
    Resolver resolver = resolved(statistics, pe_map, directory, places);
    workload.messages = std::move(resolver.messages());
    result.outside = std::move(resolver.outside());
    result.detours = std::move(resolver.detours());
    add_senders(pe_map, workload, result.detours, places);
  }
  result.row_of_task = directory.take_row_of_task();
  result.phase.current = Placement(std::move(places));
  return result;
}

std::vector<std::int32_t> pes_of(const Placement& placement,
                                 const std::vector<std::uint32_t>& row_of_task,
                                 const Statistics& statistics, const PeMap& pe_map) {
  std::vector<std::int32_t> pes(statistics.num_objects());
  for (TaskId t = 0; t < row_of_task.size(); ++t)
    pes[row_of_task[t]] = pe_map.pe_of_place[placement.of(t)];
  if (pe_map.pe_of_place.size() == pe_map.place_of_pe.size()) return pes;
  for (std::size_t row = 0; row < pes.size(); ++row)  // pinned objects stay on their PE
    if (const ObjectRow object = statistics.object(row); !object.movable) pes[row] = object.pe;
  return pes;
}

}  // namespace poise::charm
