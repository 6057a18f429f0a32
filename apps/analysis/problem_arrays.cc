// SPDX-License-Identifier: BSD-3-Clause

#include "apps/analysis/problem_arrays.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>

#include "apps/analysis/sizes.h"

namespace poise::apps {

namespace {

constexpr std::uint32_t kMaxDomainsOfMatrix = 4096;  // 128 MiB each

template <typename T>
const T* data_or_null(const std::vector<T>& column) {
  return column.empty() ? nullptr : column.data();
}

/// Returns the array as JSON, or null if the array is unknown.
template <typename T>
nlohmann::json array_of(const T* data, std::size_t size) {
  if (data == nullptr && size > 0) return nullptr;
  return std::span(data, size);
}

nlohmann::ordered_json json_of_machine(const poise_problem& p) {
  auto levels = nlohmann::ordered_json::array();
  for (std::uint32_t l = 0; l < p.num_levels; ++l)
    levels.push_back(
        {{"name", p.level_name[l]},
         {"group", array_of(p.level_group + std::size_t{l} * p.num_places, p.num_places)}});
  const std::size_t pairs = std::size_t{p.num_domains} * p.num_domains;
  return {{"num_places", p.num_places},
          {"num_domains", p.num_domains},
          {"num_nodes", p.num_nodes},
          {"speed", array_of(p.speed, p.num_places)},
          {"background_s", array_of(p.background_s, p.num_places)},
          {"place_bytes", array_of(p.place_bytes, p.num_places)},
          {"domain", array_of(p.domain, p.num_places)},
          {"node", array_of(p.node, p.num_places)},
          {"levels", std::move(levels)},
          {"latency_factor", array_of(p.latency_factor, pairs)},
          {"bandwidth_factor", array_of(p.bandwidth_factor, pairs)},
          {"seconds_per_message", p.seconds_per_message},
          {"seconds_per_byte", p.seconds_per_byte},
          {"seconds_per_migrated_byte", p.seconds_per_migrated_byte}};
}

}  // namespace

ProblemArrays::ProblemArrays(const Problem& problem) {
  add_tasks(problem);
  add_messages(problem.workload);
  add_machine(problem.machine);
  add_memory(problem.workload);
  add_subphases(problem.workload);
  add_past(problem);
  background_s_ = problem.workload.background_s;
  view_.background_s = data_or_null(background_s_);
  view_.loads_include = static_cast<std::uint32_t>(problem.workload.loads_include);
  view_.overlap = problem.workload.overlap;
  view_.version = POISE_PLUGIN_VERSION;
  view_.seed = problem.seed;
  view_.seconds_per_message = problem.costs.seconds_per_message;
  view_.seconds_per_byte = problem.costs.seconds_per_byte;
  view_.seconds_per_migrated_byte = problem.costs.seconds_per_migrated_byte;
}

void ProblemArrays::add_tasks(const Problem& problem) {
  const bool sizes_are_known = has_sizes(problem.workload);
  for (const Task& task : problem.workload.tasks) {
    load_s_.push_back(task.load_s);
    movable_.push_back(task.movable ? 1 : 0);
    if (sizes_are_known) size_bytes_.push_back(task.bytes);
  }
  for (const auto& position : problem.workload.positions)
    position_.insert(position_.end(), position.begin(), position.end());
  home_ = problem.workload.homes;
  const auto places = problem.current.places();
  current_.assign(places.begin(), places.end());
  view_.num_tasks = problem.workload.num_tasks();
  view_.load_s = load_s_.data();
  view_.size_bytes = data_or_null(size_bytes_);
  view_.movable = movable_.data();
  view_.current = data_or_null(current_);
  view_.position = data_or_null(position_);
  view_.home = data_or_null(home_);
}

void ProblemArrays::add_memory(const Workload& workload) {
  for (const TaskMemory& memory : workload.memory) {
    footprint_bytes_.push_back(memory.footprint_bytes);
    working_bytes_.push_back(memory.working_bytes);
    shared_block_.push_back(memory.shared_block);
  }
  shared_block_bytes_ = workload.shared_block_bytes;
  place_bytes_ = workload.place_bytes;
  view_.footprint_bytes = data_or_null(footprint_bytes_);
  view_.working_bytes = data_or_null(working_bytes_);
  view_.shared_block = data_or_null(shared_block_);
  view_.shared_block_bytes = data_or_null(shared_block_bytes_);
  view_.place_bytes = data_or_null(place_bytes_);
  view_.num_shared_blocks = shared_block_bytes_.size();
}

/// Copies the loads of all tasks in their subphases to an array with one row per task. Rows of
/// tasks with fewer subphases than others end with zeros.
void ProblemArrays::add_subphases(const Workload& workload) {
  std::size_t most = 0;
  for (const auto& loads_s : workload.subphase_load_s) most = std::max(most, loads_s.size());
  subphase_load_s_.assign(workload.subphase_load_s.size() * most, 0);
  auto row = subphase_load_s_.begin();
  for (const auto& loads_s : workload.subphase_load_s) {
    std::copy(loads_s.begin(), loads_s.end(), row);
    row += most;
  }
  view_.subphase_load_s = data_or_null(subphase_load_s_);
  view_.num_subphases = most;
  view_.subphase_rule = static_cast<std::uint32_t>(workload.subphase_rule);
}

void ProblemArrays::add_past(const Problem& problem) {
  for (const std::vector<double>& loads_s : problem.past_loads_s)
    past_loads_s_.insert(past_loads_s_.end(), loads_s.begin(), loads_s.end());
  view_.past_loads_s = data_or_null(past_loads_s_);
  view_.num_past_loads = problem.past_loads_s.size();
}

void ProblemArrays::add_messages(const Workload& workload) {
  indptr_.assign(std::size_t{workload.num_tasks()} + 1, 0);
  for (const Message& message : workload.messages) ++indptr_[std::size_t{message.from} + 1];
  for (std::size_t t = 1; t < indptr_.size(); ++t) indptr_[t] += indptr_[t - 1];
  indices_.resize(workload.messages.size());
  counts_.resize(workload.messages.size());
  bytes_.resize(workload.messages.size());
  std::vector<std::uint64_t> next(indptr_.begin(), indptr_.end() - 1);
  for (const Message& message : workload.messages) {
    const std::uint64_t at = next[message.from]++;
    indices_[at] = message.to;
    counts_[at] = message.count;
    bytes_[at] = message.bytes;
  }
  view_.indptr = indptr_.data();
  view_.indices = indices_.data();
  view_.counts = counts_.data();
  view_.bytes = bytes_.data();
}

void ProblemArrays::add_machine(const Machine& machine) {
  for (PlaceId p = 0; p < machine.num_places(); ++p) {
    speed_.push_back(machine.speed_of(p));
    domain_.push_back(machine.domain_of(p));
    node_.push_back(machine.node_of_place(p));
  }
  for (const Level& level : machine.levels()) level_names_.push_back(level.name);
  for (std::size_t l = 0; l < machine.levels().size(); ++l) {
    level_name_.push_back(level_names_[l].c_str());
    for (PlaceId p = 0; p < machine.num_places(); ++p)
      level_group_.push_back(machine.group_of(l, p));
  }
  const std::uint32_t domains = machine.num_domains();
  for (DomainId a = 0; a < domains && domains <= kMaxDomainsOfMatrix; ++a)
    for (DomainId b = 0; b < domains; ++b) {
      latency_.push_back(a == b ? 1 : machine.latency_factor(a, b));
      const PlaceId from = machine.first_place(a), to = machine.first_place(b);
      bandwidth_.push_back(a == b ? 1 : machine.byte_factor(from, to));
    }
  view_.num_places = machine.num_places();
  view_.num_domains = domains;
  view_.num_nodes = machine.num_nodes();
  view_.num_levels = level_name_.size();
  view_.speed = speed_.data();
  view_.domain = domain_.data();
  view_.node = node_.data();
  view_.level_name = level_name_.data();
  view_.level_group = level_group_.data();
  view_.latency_factor = data_or_null(latency_);
  view_.bandwidth_factor = data_or_null(bandwidth_);
}

std::string json_of(const poise_problem& p) {
  const std::size_t entries = p.indptr[p.num_tasks];
  const nlohmann::ordered_json document{
      {"poise_problem", p.version},
      {"num_tasks", p.num_tasks},
      {"seed", p.seed},
      {"load_s", array_of(p.load_s, p.num_tasks)},
      {"size_bytes", array_of(p.size_bytes, p.num_tasks)},
      {"movable", array_of(p.movable, p.num_tasks)},
      {"current", array_of(p.current, p.num_tasks)},
      {"messages",
       {{"indptr", array_of(p.indptr, std::size_t{p.num_tasks} + 1)},
        {"indices", array_of(p.indices, entries)},
        {"counts", array_of(p.counts, entries)},
        {"bytes", array_of(p.bytes, entries)}}},
      {"position", array_of(p.position, std::size_t{3} * p.num_tasks)},
      {"home", array_of(p.home, p.num_tasks)},
      {"memory",
       {{"footprint_bytes", array_of(p.footprint_bytes, p.num_tasks)},
        {"working_bytes", array_of(p.working_bytes, p.num_tasks)},
        {"shared_block", array_of(p.shared_block, p.num_tasks)},
        {"shared_block_bytes", array_of(p.shared_block_bytes, p.num_shared_blocks)}}},
      {"num_subphases", p.num_subphases},
      {"subphase_rule", p.subphase_rule},
      {"subphase_load_s", array_of(p.subphase_load_s, std::size_t{p.num_tasks} * p.num_subphases)},
      {"num_past_loads", p.num_past_loads},
      {"past_loads_s", array_of(p.past_loads_s, std::size_t{p.num_tasks} * p.num_past_loads)},
      {"loads_include", p.loads_include},
      {"overlap", p.overlap},
      {"machine", json_of_machine(p)}};
  return document.dump() + "\n";
}

}  // namespace poise::apps
