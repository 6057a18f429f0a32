// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/own_arrays.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/distributed/rank_directory.h"

namespace poise::charm {

namespace {

/// The array number in the name of a PE that sends messages. No real array has this number.
constexpr std::int32_t kArrayOfPes = -1;

/// A message that a task of this PE has sent.
struct Sent {
  std::uint32_t task = 0;
  std::int32_t sent_to_pe = -1;
  std::uint64_t id = 0;  // of the receiver
  ObjectName to;
  std::uint64_t count = 0, bytes = 0;
};

class Messenger {
 public:
  Messenger(const Statistics& own, const std::vector<std::uint32_t>& row_of_task)
      : own_(own), row_of_task_(row_of_task) {}

  void add(const MessageRow& row, const std::vector<ObjectName>& receivers) {
    const std::uint32_t task = row.from_pe == -1 ? task_of(row.from) : row_of_task_.size();
    if (task == kNoTask) return;
    if (row.num_receivers == 0) add(task, row.to, row, row.last_known_pe);
    for (std::uint32_t i = 0; i < row.num_receivers; ++i)
      add(task, receivers.at(row.first_receiver + i), row, -1);
  }

  /// Returns the messages sorted by sender and receiver, merged to one per pair.
  std::vector<Sent> merged() {
    std::sort(sent_.begin(), sent_.end(), [](const Sent& a, const Sent& b) {
      return std::tie(a.task, a.id) < std::tie(b.task, b.id);
    });
    std::size_t kept = 0;
    for (const Sent& next : sent_) {
      Sent* const last = kept > 0 ? &sent_[kept - 1] : nullptr;
      if (last == nullptr || last->task != next.task || last->id != next.id) {
        sent_[kept++] = next;
        continue;
      }
      last->count += next.count;
      last->bytes += next.bytes;
      last->sent_to_pe = std::max(last->sent_to_pe, next.sent_to_pe);
    }
    sent_.resize(kept);
    return std::move(sent_);
  }

 private:
  static constexpr std::uint32_t kNoTask = ~std::uint32_t{0};

  std::uint32_t task_of(const ObjectName& name) const {
    const auto at = std::lower_bound(row_of_task_.begin(), row_of_task_.end(), name,
                                     [&](std::uint32_t row, const ObjectName& wanted) {
                                       return comes_before(own_.object(row).name, wanted);
                                     });
    const bool is_here = at != row_of_task_.end() && same(own_.object(*at).name, name);
    return is_here ? at - row_of_task_.begin() : kNoTask;
  }

  void add(std::uint32_t task, const ObjectName& to, const MessageRow& row, std::int32_t pe) {
    sent_.push_back({task, pe, task_id_of(to), to, row.messages, row.bytes});
  }

  const Statistics& own_;
  const std::vector<std::uint32_t>& row_of_task_;
  std::vector<Sent> sent_;
};

std::vector<Sent> sent_by(const Statistics& own, const std::vector<std::uint32_t>& row_of_task) {
  Messenger messenger(own, row_of_task);
  for (const MessageRow& row : own.messages) messenger.add(row, own.receivers);
  if (own.more_messages.visit_all)
    own.more_messages.visit_all(
        [&](const MessageRow& row, const std::vector<ObjectName>& receivers) {
          messenger.add(row, receivers);
        });
  return messenger.merged();
}

void add_task(OwnArrays& arrays, std::uint64_t id, double load_s, std::uint64_t bytes,
              bool movable) {
  arrays.ids.push_back(id);
  arrays.load_s.push_back(load_s);
  arrays.bytes.push_back(bytes);
  arrays.pinned.push_back(movable ? 0 : 1);
}

void add_objects(const Statistics& own, double speed, OwnArrays& arrays) {
  std::vector<std::uint32_t>& rows = arrays.row_of_task;
  rows.resize(own.num_objects());
  std::iota(rows.begin(), rows.end(), 0);
  std::sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return comes_before(own.object(a).name, own.object(b).name);
  });
  for (const std::uint32_t row : rows) {
    const ObjectRow object = own.object(row);
    add_task(arrays, task_id_of(object.name), object.wall_s * speed, object.bytes, object.movable);
  }
}

void add_messages(const std::vector<Sent>& sent, OwnArrays& arrays) {
  auto next = sent.begin();
  for (std::uint32_t task = 0; task < arrays.ids.size(); ++task) {
    for (; next != sent.end() && next->task == task; ++next) {
      arrays.to.push_back(next->id);
      arrays.counts.push_back(next->count);
      arrays.message_bytes.push_back(next->bytes);
      arrays.receivers.push_back(next->to);
      arrays.sent_to_pe.push_back(next->sent_to_pe);
    }
    arrays.first.push_back(arrays.to.size());
  }
}

}  // namespace

std::uint64_t task_id_of(const ObjectName& object) {
  const std::uint32_t array = object.array;  // unsigned, so the high bits of mix()'s argument are 0
  return mix(object.id ^ mix(array));
}

std::uint64_t task_id_of_pe(std::int32_t pe) {
  const std::uint32_t id = pe;
  return task_id_of({id, kArrayOfPes});
}

OwnArrays own_arrays(const Statistics& own, double speed, Messages messages) {
  OwnArrays arrays;
  arrays.loads_include = LoadsInclude::send_and_receive;  // as in converted()
  add_objects(own, speed, arrays);
  arrays.background_s = std::max(0.0, own.pes.at(0).background_s);
  std::vector<Sent> sent;
  if (messages == Messages::convert) sent = sent_by(own, arrays.row_of_task);
  if (!sent.empty() && sent.back().task == arrays.row_of_task.size())
    add_task(arrays, task_id_of_pe(own.pes.at(0).number), 0, 0, false);
  add_messages(sent, arrays);
  return arrays;
}

void set_ranks(OwnArrays& arrays, const std::vector<std::uint32_t>& rank_of_receiver) {
  std::vector<std::uint64_t> first{0};
  std::size_t kept = 0, i = 0;
  arrays.to_rank.clear();
  for (std::size_t task = 0; task < arrays.ids.size(); ++task) {
    for (; i < arrays.first[task + 1]; ++i) {
      if (rank_of_receiver[i] == kNoRank) continue;
      arrays.to_rank.push_back(rank_of_receiver[i]);
      arrays.to[kept] = arrays.to[i];
      arrays.counts[kept] = arrays.counts[i];
      arrays.message_bytes[kept] = arrays.message_bytes[i];
      arrays.receivers[kept] = arrays.receivers[i];
      arrays.sent_to_pe[kept++] = arrays.sent_to_pe[i];
    }
    first.push_back(kept);
  }
  arrays.first = std::move(first);
  arrays.to.resize(kept);
  arrays.counts.resize(kept);
  arrays.message_bytes.resize(kept);
  arrays.receivers.resize(kept);
  arrays.sent_to_pe.resize(kept);
}

}  // namespace poise::charm
