// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/past.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "runtimes/archive/archive.h"

#include "poise/base/error.h"

namespace poise::charm {

namespace {

constexpr std::uint32_t kFormat = 0x31504350;  // the bytes "PCP1" in the checkpoint
constexpr int kAllBits = 64;

bool is_load(double load_s) { return load_s >= 0 && std::isfinite(load_s); }

/// Clears the bits of each id that may hold the number of a PE. If two objects of an array would
/// then have the same id, leaves all ids of this array unchanged.
std::vector<ObjectName> without_pes(std::vector<ObjectName> names, int num_index_bits) {
  const std::uint64_t mask = (std::uint64_t{1} << num_index_bits) - 1;
  std::vector<ObjectName> rest = names;
  for (ObjectName& name : rest) name.id &= mask;
  std::sort(rest.begin(), rest.end(), comes_before);
  std::set<std::int32_t> ambiguous;
  for (std::size_t i = 1; i < rest.size(); ++i)
    if (same(rest[i - 1], rest[i])) ambiguous.insert(rest[i].array);
  for (ObjectName& name : names)
    if (!ambiguous.contains(name.array)) name.id &= mask;
  return names;
}

std::vector<TaskId> in_order(const std::vector<ObjectName>& names) {
  std::vector<TaskId> order(names.size());
  std::iota(order.begin(), order.end(), TaskId{0});
  std::sort(order.begin(), order.end(),
            [&](TaskId a, TaskId b) { return comes_before(names[a], names[b]); });
  return order;
}

/// If `objects` are the recorded objects (the PE stored in an id may differ), stores the new ids
/// and sorts the recorded loads in the order of `objects`. Otherwise clears the history.
void reorder(Past& past, const std::vector<ObjectName>& objects, int num_index_bits) {
  if (past.loads_s.empty()) return;
  if (past.names.size() != objects.size() || num_index_bits == kAllBits)
    return past.loads_s.clear();
  const std::vector<ObjectName> before = without_pes(past.names, num_index_bits),
                                now = without_pes(objects, num_index_bits);
  const std::vector<TaskId> from = in_order(before), to = in_order(now);
  const auto same_object = [&](TaskId a, TaskId b) { return same(before[a], now[b]); };
  if (!std::equal(from.begin(), from.end(), to.begin(), to.end(), same_object))
    return past.loads_s.clear();
  for (std::vector<double>& loads : past.loads_s) {
    const std::vector<double> loads_before = loads;
    for (std::size_t i = 0; i < to.size(); ++i) loads[to[i]] = loads_before[from[i]];
  }
  past.names = objects;
}

}  // namespace

void Past::follow(const std::vector<ObjectName>& objects, int num_index_bits) {
  if (!std::equal(objects.begin(), objects.end(), names.begin(), names.end(), same))
    reorder(*this, objects, num_index_bits);
}

std::vector<std::vector<double>> Past::loads_of(const std::vector<ObjectName>& objects,
                                                TaskId num_tasks, int num_index_bits) {
  follow(objects, num_index_bits);
  std::vector<std::vector<double>> loads_of_tasks = loads_s;
  for (auto& loads : loads_of_tasks) loads.resize(num_tasks);  // tasks of sending PEs have no load
  return loads_of_tasks;
}

void Past::add(std::vector<ObjectName> objects, std::vector<double> loads,
               std::size_t max_decisions) {
  names = std::move(objects);
  loads.resize(names.size());
  loads_s.push_back(std::move(loads));
  if (loads_s.size() > max_decisions) loads_s.erase(loads_s.begin(), loads_s.end() - max_decisions);
}

std::vector<char> to_checkpoint(const Past& past) {
  Buffer buffer;
  Writer writer(buffer);
  writer(kFormat, past.num_decisions, past.names, past.loads_s);
  const auto* begin = reinterpret_cast<const char*>(buffer.data());
  return {begin, begin + buffer.size()};
}

Past from_checkpoint(const std::vector<char>& bytes) {
  Reader reader(std::as_bytes(std::span(bytes)));
  std::uint32_t format = 0;
  Past past;
  reader(format);
  if (format != kFormat)
    fail("the checkpoint was written by another version of Poise; restart with that version");
  reader(past.num_decisions, past.names, past.loads_s);
  if (reader.left() != 0)
    fail("the checkpoint has {} bytes more than expected; the checkpoint may be damaged",
         reader.left());
  for (const std::vector<double>& loads : past.loads_s) {
    if (loads.size() != past.names.size())
      fail("the checkpoint has {} loads for {} objects; the checkpoint may be damaged",
           loads.size(), past.names.size());
    if (!std::all_of(loads.begin(), loads.end(), is_load))
      fail("a load in the checkpoint is negative or not a number; the checkpoint may be damaged");
  }
  return past;
}

}  // namespace poise::charm
