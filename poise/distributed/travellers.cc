// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/travellers.h"

namespace poise {

namespace {

struct TaskOnTheWay {
  std::uint64_t id;
  double load_s;
  std::uint64_t bytes;
  std::uint32_t home, index, num_edges, is_pinned;
};

struct EdgeOnTheWay {
  std::uint64_t to, count, bytes, to_rank;
};

}  // namespace

Travellers Travellers::moved(Communicator& ranks, const OwnTasks& own, const OwnGraph& graph,
                             const std::vector<std::uint32_t>& targets, const Travellers* before) {
  const std::vector<std::uint32_t> ghost_rank = ask_owners(ranks, graph.ghosts(), targets);
  Mail<TaskOnTheWay> tasks;
  Mail<EdgeOnTheWay> edges;
  for (std::uint32_t t = 0; t < own.num_tasks(); ++t) {
    const Home home = before != nullptr
                          ? before->homes_[t]
                          : Home{ranks.rank(), t, own.bytes.empty() ? 0 : own.bytes[t]};
    const std::uint64_t begin = own.first.empty() ? 0 : own.first[t];
    const std::uint64_t end = own.first.empty() ? 0 : own.first[t + 1];
    tasks[targets[t]].push_back({own.ids[t], own.load_s[t], home.bytes, home.rank, home.index,
                                 static_cast<std::uint32_t>(end - begin),
                                 std::uint32_t{!own.pinned.empty() && own.pinned[t] != 0}});
    for (std::uint64_t i = begin; i < end; ++i)
      edges[targets[t]].push_back({own.to[i], own.count(i), own.bytes_of_message(i),
                                   graph.rank_of_receiver(i, targets, ghost_rank)});
  }
  Travellers after;
  after.background_s_ = own.background_s;
  for (const auto& [rank, part] : ranks.exchange(tasks))
    for (const TaskOnTheWay& task : part) {
      after.homes_.push_back({task.home, task.index, task.bytes});
      after.ids_.push_back(task.id);
      after.load_s_.push_back(task.load_s);
      after.bytes_.push_back(task.home == ranks.rank() ? task.bytes : 0);
      after.pinned_.push_back(static_cast<std::uint8_t>(task.is_pinned));
      after.first_.push_back(after.first_.back() + task.num_edges);
    }
  tasks.clear();
  for (const auto& [rank, part] : ranks.exchange(edges))
    for (const EdgeOnTheWay& edge : part) {
      after.to_.push_back(edge.to);
      after.counts_.push_back(edge.count);
      after.message_bytes_.push_back(edge.bytes);
      after.to_rank_.push_back(edge.to_rank);
    }
  return after;
}

OwnTasks Travellers::view() const {
  return {.ids = ids_,
          .load_s = load_s_,
          .bytes = bytes_,
          .pinned = pinned_,
          .first = first_,
          .to = to_,
          .to_rank = to_rank_,
          .counts = counts_,
          .message_bytes = message_bytes_,
          .background_s = background_s_};
}

std::vector<std::uint32_t> Travellers::told_home(Communicator& ranks,
                                                 const std::vector<std::uint32_t>& targets,
                                                 std::size_t num_own) const {
  struct Answer {
    std::uint32_t index, rank;
  };
  Mail<Answer> answers;
  for (std::size_t t = 0; t < homes_.size(); ++t)
    answers[homes_[t].rank].push_back({homes_[t].index, targets[t]});
  std::vector<std::uint32_t> result(num_own);
  for (const auto& [rank, part] : ranks.exchange(answers))
    for (const Answer& answer : part) result.at(answer.index) = answer.rank;
  return result;
}

}  // namespace poise
