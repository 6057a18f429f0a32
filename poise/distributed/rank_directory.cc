// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/rank_directory.h"

#include <map>
#include <utility>

#include "poise/base/random.h"
#include "poise/distributed/id_table.h"

namespace poise {

// The rank is chosen by the highest bits of mix(), because IdTable chooses the slot of an id by the
// lowest bits. If the lowest bits chose both, and the number of ranks was a power of two, the ids
// of a rank would map to only a few slots of its table.
std::uint32_t directory_of(std::uint64_t id, std::uint32_t num_ranks) {
  return static_cast<std::uint32_t>((mix(id) >> 32) * num_ranks >> 32);
}

std::vector<std::uint32_t> ranks_of_tasks(Communicator& ranks, std::span<const std::uint64_t> own,
                                          const std::vector<std::uint64_t>& wanted) {
  Mail<std::uint64_t> announced;
  for (const std::uint64_t id : own) announced[directory_of(id, ranks.num_ranks())].push_back(id);
  IdTable known;
  std::vector<std::uint32_t> rank_of;
  for (const auto& [rank, ids] : ranks.exchange(std::exchange(announced, {})))
    for (const std::uint64_t id : ids) {
      if (known.insert(id) < rank_of.size())
        fail("rank {} and rank {} both have a task with id {}; ids must be unique over all ranks",
             rank_of[known.find(id)], rank, id);
      rank_of.push_back(rank);
    }
  Mail<std::uint64_t> questions;
  for (const std::uint64_t id : wanted)
    questions[directory_of(id, ranks.num_ranks())].push_back(id);
  Mail<std::uint32_t> answers;
  for (const auto& [rank, ids] : ranks.exchange(questions))
    for (const std::uint64_t id : ids) {
      const std::uint32_t number = known.find(id);
      answers[rank].push_back(number == IdTable::kNone ? kNoRank : rank_of[number]);
    }
  answers = ranks.exchange(answers);
  std::map<std::uint32_t, std::size_t> next;
  std::vector<std::uint32_t> result;
  for (const std::uint64_t id : wanted) {
    const std::uint32_t directory = directory_of(id, ranks.num_ranks());
    result.push_back(items_from(answers, directory)[next[directory]++]);
  }
  return result;
}

}  // namespace poise
