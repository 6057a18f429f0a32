// SPDX-License-Identifier: BSD-3-Clause
// Workloads of libpoise.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "faces/library/arrays.h"
#include "faces/library/handles.h"

#include "poise/base/huge_pages.h"
#include "poise/base/text.h"
#include "poise/placement/subphases.h"
#include "poise/workload/checks.h"

using poise::fail;
using poise::library::array;
using poise::library::checked;
using poise::library::guarded;
using poise::library::required;

namespace {

poise::Workload& workload_of(poise_workload* handle) {
  return checked(handle, "workload").workload;
}

/// Throws Error unless indptr starts at 0 and never decreases.
void check_csr(std::span<const uint64_t> indptr) {
  if (indptr[0] != 0) fail("indptr[0] is {}; it must be 0", indptr[0]);
  for (std::size_t t = 1; t < indptr.size(); ++t)
    if (indptr[t] < indptr[t - 1])
      fail("indptr[{}] is {}, less than indptr[{}], which is {}; indptr must not decrease", t,
           indptr[t], t - 1, indptr[t - 1]);
}

/// Returns entry i as a message. If `counts` is null, the message is sent once; if `bytes`
/// is null, the message has no bytes.
poise::Message message(uint32_t from, uint32_t to, const uint64_t* counts, const uint64_t* bytes,
                       uint64_t i) {
  return {from, to, counts == nullptr ? 1 : counts[i], bytes == nullptr ? 0 : bytes[i]};
}

/// Adds up the entries of two arrays: numbers of messages and bytes. An array may be null. Throws
/// Error if an entry or a sum is too large.
class MessageTotals {
 public:
  MessageTotals(const uint64_t* counts, const uint64_t* bytes) : counts_(counts), bytes_(bytes) {}
  void add(std::size_t first, std::size_t size) {
    using poise::checked_sum;
    if (counts_ != nullptr)
      sent_ = checked_sum(sent_, checked_part(counts_, first, size, "counts"), "messages");
    if (bytes_ != nullptr)
      sent_bytes_ =
          checked_sum(sent_bytes_, checked_part(bytes_, first, size, "bytes"), "bytes of messages");
  }

 private:
  static std::span<const uint64_t> checked_part(const uint64_t* numbers, std::size_t first,
                                                std::size_t size, const char* name) {
    const std::span part(numbers + first, size);
    poise::library::check_counted(part, name, first);
    return part;
  }
  const uint64_t *counts_, *bytes_;
  uint64_t sent_ = 0, sent_bytes_ = 0;
};

/// Splits load_s into a row for each task. A row has the loads of the task in each of the
/// `num_parts` subphases or kinds of work.
std::vector<std::vector<double>> rows_of(const poise::Workload& w, uint64_t num_parts,
                                         const double* load_s) {
  const auto loads_s = array(load_s, w.num_tasks() * num_parts, "load_s");
  poise::library::check_seconds(loads_s, "load_s");
  std::vector<std::vector<double>> rows;
  for (std::size_t t = 0; t < w.num_tasks(); ++t) {
    const auto row = loads_s.subspan(t * num_parts, num_parts);
    rows.emplace_back(row.begin(), row.end());
  }
  return rows;
}

}  // namespace

int poise_workload_create(uint64_t num_tasks, const double* load_s, poise_workload** workload) {
  return guarded(__func__, [&] {
    poise_workload*& result = required(workload, "workload");
    if (num_tasks == 0) fail("num_tasks is 0; at least 1 is needed");
    poise::library::checked_count(num_tasks, "num_tasks");
    const auto loads_s = array(load_s, num_tasks, "load_s");
    poise::library::check_seconds(loads_s, "load_s");
    auto handle = std::make_unique<poise_workload>();
    poise::reserve_in_huge_pages(handle->workload.tasks, loads_s.size());
    for (const double s : loads_s) handle->workload.tasks.push_back({.load_s = s});
    result = handle.release();
  });
}

void poise_workload_destroy(poise_workload* workload) { poise::library::destroy(workload); }

uint64_t poise_workload_num_tasks(const poise_workload* workload) {
  uint64_t count = 0;
  guarded(__func__, [&] { count = checked(workload, "workload").workload.num_tasks(); });
  return count;
}

int poise_workload_set_sizes(poise_workload* workload, const uint64_t* bytes) {
  return guarded(__func__, [&] {
    poise::Workload& w = workload_of(workload);
    const auto sizes = array(bytes, w.num_tasks(), "bytes");
    poise::library::check_counted(sizes, "bytes");
    for (std::size_t t = 0; t < sizes.size(); ++t) w.tasks[t].bytes = sizes[t];
  });
}

int poise_workload_set_pinned(poise_workload* workload, const uint8_t* pinned) {
  return guarded(__func__, [&] {
    poise::Workload& w = workload_of(workload);
    const auto flags = array(pinned, w.num_tasks(), "pinned");
    for (std::size_t t = 0; t < flags.size(); ++t) w.tasks[t].movable = flags[t] == 0;
  });
}

int poise_workload_set_messages_csr(poise_workload* workload, const uint64_t* indptr,
                                    const uint32_t* indices, const uint64_t* counts,
                                    const uint64_t* bytes) {
  return guarded(__func__, [&] {
    poise::Workload& w = workload_of(workload);
    const auto starts = array(indptr, uint64_t{w.num_tasks()} + 1, "indptr");
    check_csr(starts);
    poise::library::checked_num_messages(starts.back(), "the last entry of indptr");
    const auto to = array(indices, starts.back(), "indices");
    MessageTotals totals(counts, bytes);
    std::vector<poise::Message> messages;
    poise::reserve_in_huge_pages(messages, to.size());
    // Entries are checked in blocks, each just before its conversion, so that each entry is read
    // from memory only once.
    constexpr poise::TaskId kBlock = 1024;
    for (poise::TaskId begin = 0, end = 0; begin < w.num_tasks(); begin = end) {
      end = std::min(begin + kBlock, w.num_tasks());
      const std::size_t first = starts[begin], size = starts[end] - first;
      poise::library::check_below(to.subspan(first, size), w.num_tasks(), "indices", "tasks",
                                  first);
      totals.add(first, size);
      for (poise::TaskId t = begin; t < end; ++t)
        for (uint64_t i = starts[t]; i < starts[t + 1]; ++i)
          messages.push_back(message(t, to[i], counts, bytes, i));
    }
    w.messages = std::move(messages);
  });
}

int poise_workload_set_messages(poise_workload* workload, uint64_t num_messages,
                                const uint32_t* from, const uint32_t* to, const uint64_t* counts,
                                const uint64_t* bytes) {
  return guarded(__func__, [&] {
    poise::Workload& w = workload_of(workload);
    poise::library::checked_num_messages(num_messages, "num_messages");
    const auto senders = array(from, num_messages, "from");
    const auto receivers = array(to, num_messages, "to");
    poise::library::check_below(senders, w.num_tasks(), "from", "tasks");
    poise::library::check_below(receivers, w.num_tasks(), "to", "tasks");
    MessageTotals(counts, bytes).add(0, num_messages);
    std::vector<poise::Message> messages;
    poise::reserve_in_huge_pages(messages, senders.size());
    for (std::size_t i = 0; i < senders.size(); ++i)
      messages.push_back(message(senders[i], receivers[i], counts, bytes, i));
    w.messages = std::move(messages);
  });
}

int poise_workload_set_positions(poise_workload* workload, int dimensions, const double* position) {
  return guarded(__func__, [&] {
    poise::Workload& w = workload_of(workload);
    if (dimensions < 1 || dimensions > 3)
      fail("dimensions is {}; it must be from 1 to 3", dimensions);
    const std::size_t each = dimensions;
    const auto coordinates = array(position, w.num_tasks() * each, "position");
    for (std::size_t i = 0; i < coordinates.size(); ++i)
      if (!std::isfinite(coordinates[i]))
        fail("position[{}] is {}; it must be finite", i, coordinates[i]);
    std::vector<std::array<double, 3>> positions(w.num_tasks());
    for (std::size_t i = 0; i < coordinates.size(); ++i)
      positions[i / each][i % each] = coordinates[i];
    w.positions = std::move(positions);
  });
}

int poise_workload_set_background(poise_workload* workload, uint64_t num_places,
                                  const double* seconds) {
  return guarded(__func__, [&] {
    poise::Workload& w = workload_of(workload);
    poise::library::checked_count(num_places, "num_places");
    const auto background_s = array(seconds, num_places, "seconds");
    poise::library::check_seconds(background_s, "seconds");
    w.background_s.assign(background_s.begin(), background_s.end());
  });
}

int poise_workload_set_subphases(poise_workload* workload, uint64_t num_subphases,
                                 const double* load_s) {
  return guarded(__func__, [&] {
    poise::Workload& w = workload_of(workload);
    if (num_subphases == 0 || num_subphases > poise::kMaxSubphases)
      fail("num_subphases is {}; it must be from 1 to {}", num_subphases, poise::kMaxSubphases);
    w.subphase_load_s = rows_of(w, num_subphases, load_s);
    w.subphase_rule = poise::SubphaseRule::wait;
    w.subphase_speed.clear();
  });
}

int poise_workload_set_kinds(poise_workload* workload, uint64_t num_kinds, const double* load_s,
                             uint64_t num_places, const double* speeds) {
  return guarded(__func__, [&] {
    poise::Workload& w = workload_of(workload);
    if (num_kinds < 2 || num_kinds > poise::kMaxSubphases)
      fail("num_kinds is {}; it must be from 2 to {}", num_kinds, poise::kMaxSubphases);
    poise::library::checked_count(num_places, "num_places");
    auto rows = rows_of(w, num_kinds, load_s);
    std::vector<double> speed;
    if (speeds != nullptr) {
      const auto given = array(speeds, num_places * num_kinds, "speeds");
      for (std::size_t i = 0; i < given.size(); ++i)
        if (!std::isfinite(given[i]) || given[i] <= 0)
          fail("speeds[{}] is {}; it must be finite and above 0", i, given[i]);
      speed.assign(given.begin(), given.end());
    }
    w.subphase_load_s = std::move(rows);
    w.subphase_rule = poise::SubphaseRule::overlap;
    w.subphase_speed = std::move(speed);
  });
}

int poise_workload_set_capacity(poise_workload* workload, uint32_t per_place, const uint32_t* cores,
                                uint64_t num_places, const uint32_t* of_places,
                                uint64_t num_domains, const uint32_t* of_domains) {
  return guarded(__func__, [&] {
    poise::Workload& w = workload_of(workload);
    const auto column = [](const uint32_t* values, uint64_t count, const char* name) {
      if (values == nullptr) return std::vector<std::uint32_t>();
      poise::library::checked_count(count, name);
      return std::vector<std::uint32_t>(values, values + count);
    };
    w.capacity = {per_place, column(of_places, num_places, "num_places"),
                  column(of_domains, num_domains, "num_domains"),
                  column(cores, w.num_tasks(), "num_tasks")};
  });
}

int poise_workload_set_memory(poise_workload* workload, const uint64_t* footprint_bytes,
                              const uint64_t* working_bytes, const int32_t* shared_block,
                              uint64_t num_blocks, const uint64_t* block_bytes) {
  return guarded(__func__, [&] {
    poise::Workload& w = workload_of(workload);
    poise::library::checked_count(num_blocks, "num_blocks");
    const auto blocks = array(block_bytes, num_blocks, "block_bytes");
    std::vector<poise::TaskMemory> memory(w.num_tasks());
    for (std::size_t t = 0; t < memory.size(); ++t) {
      if (footprint_bytes != nullptr) memory[t].footprint_bytes = footprint_bytes[t];
      if (working_bytes != nullptr) memory[t].working_bytes = working_bytes[t];
      if (shared_block == nullptr) continue;
      const int64_t block = shared_block[t];
      if (block < -1 || block >= static_cast<int64_t>(num_blocks))
        fail(
            "shared_block[{}] is {}, but there are only {} blocks; use -1 for a task without a "
            "block",
            t, block, num_blocks);
      memory[t].shared_block = shared_block[t];
    }
    std::vector<std::uint64_t> block_sizes(blocks.begin(), blocks.end());
    w.shared_block_bytes = std::move(block_sizes);
    w.memory = std::move(memory);
  });
}

int poise_workload_set_place_bytes(poise_workload* workload, uint64_t num_places,
                                   const uint64_t* bytes) {
  return guarded(__func__, [&] {
    poise::Workload& w = workload_of(workload);
    poise::library::checked_count(num_places, "num_places");
    const auto given = array(bytes, num_places, "bytes");
    poise::library::check_counted(given, "bytes");
    w.place_bytes.assign(given.begin(), given.end());
  });
}

int poise_workload_set_communication(poise_workload* workload, const char* loads_include,
                                     double overlap) {
  return guarded(__func__, [&] {
    static constexpr std::string_view kNames[] = {"none", "send", "send_and_receive"};
    poise::Workload& w = workload_of(workload);
    const std::string_view name = &required(loads_include, "loads_include");
    const auto* const found = std::find(std::begin(kNames), std::end(kNames), name);
    if (found == std::end(kNames))
      throw poise::Error(poise::unknown_name("loads_include", name, kNames));
    if (!(overlap >= 0 && overlap <= 1)) fail("overlap is {}; it must be from 0 to 1", overlap);
    w.loads_include = static_cast<poise::LoadsInclude>(found - std::begin(kNames));
    w.overlap = overlap;
  });
}

int poise_workload_add_past_loads(poise_workload* workload, const double* load_s) {
  return guarded(__func__, [&] {
    poise_workload& handle = checked(workload, "workload");
    const auto loads_s = array(load_s, handle.workload.num_tasks(), "load_s");
    poise::library::check_seconds(loads_s, "load_s");
    handle.past_loads_s.emplace_back(loads_s.begin(), loads_s.end());
  });
}
