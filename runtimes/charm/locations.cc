// SPDX-License-Identifier: BSD-3-Clause
#include "runtimes/charm/locations.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace poise::charm {

namespace {

/// Returns for each task whether its object moves to another PE.
std::vector<bool> moves_of(const Decided& decided) {
  std::vector<bool> moves;
  moves.reserve(decided.row_of_task.size());
  for (const std::uint32_t row : decided.row_of_task)
    moves.push_back(decided.pe_of_object[row] != decided.statistics.object(row).pe);
  return moves;
}

}  // namespace

std::vector<Location> locations_to_tell(const std::vector<Message>& messages,
                                        const std::vector<Detour>& detours,
                                        const Decided& decided) {
  const std::vector<bool> moves = moves_of(decided);
  // The placement does not tell where a pinned object is if its PE is unavailable.
  const auto pe_of = [&](TaskId t) -> std::int32_t {
    return t < moves.size() ? decided.pe_of_object[decided.row_of_task[t]]
                            : decided.pe_map.pe_of_place[decided.placement.of(t)];
  };
  std::vector<Location> locations;
  const auto add = [&](TaskId from, TaskId to) {
    const std::int32_t sender_pe = pe_of(from);
    if (sender_pe != pe_of(to)) locations.push_back({sender_pe, decided.row_of_task[to]});
  };
  for (const Message& message : messages)
    if (message.to < moves.size() &&
        (moves[message.to] || (message.from < moves.size() && moves[message.from])))
      add(message.from, message.to);
  for (const Detour& detour : detours) add(detour.from, detour.to);
  const auto key = [](const Location& location) {
    return std::pair(location.sender_pe, location.object);
  };
  std::ranges::sort(locations, {}, key);
  const auto again = std::ranges::unique(locations, {}, key);
  locations.erase(again.begin(), again.end());
  return locations;
}

std::vector<Question> questions_to_ask(const std::vector<OutsideMessage>& messages,
                                       const Decided& decided) {
  const std::size_t num_objects = decided.row_of_task.size();
  std::vector<Question> questions;
  for (const OutsideMessage& message : messages) {
    Question question;
    question.object = message.to;
    question.last_known_pe = message.last_known_pe;
    if (message.from < num_objects) {
      const std::uint32_t row = decided.row_of_task[message.from];
      question.sender_pe = decided.pe_of_object[row];
      question.must_tell = question.sender_pe != decided.statistics.object(row).pe;
    } else {
      question.sender_pe = message.from - num_objects;
    }
    questions.push_back(question);
  }
  // Keeps one question for each pair of an object and a PE that sends messages to it. If any
  // question about the pair has must_tell set, keeps such a question.
  const auto pair = [](const Question& q) {
    return std::tuple(q.object.array, q.object.id, q.sender_pe);
  };
  std::ranges::sort(questions, {}, [&](const Question& q) {
    return std::tuple(pair(q), !q.must_tell, q.last_known_pe);
  });
  const auto again = std::ranges::unique(questions, {}, pair);
  questions.erase(again.begin(), again.end());
  return questions;
}

}  // namespace poise::charm
