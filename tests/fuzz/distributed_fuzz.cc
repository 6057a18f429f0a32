// SPDX-License-Identifier: BSD-3-Clause
// Calls poise_plan_distributed() on up to three ranks with arbitrary arrays. All ranks must refuse
// exactly the arrays that an independent check finds invalid. A call that is refused must write no
// places.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "faces/library/distributed_testing.h"
#include "tests/fuzz/numbers.h"
#include "tests/fuzz/target.h"

#include "poise/base/check.h"
#include "poise/poise.h"

namespace {

using poise::OwnArrays;

class Input : public poise::fuzz::Numbers {
 public:
  using Numbers::Numbers;
  /// Returns true in one of 128 calls. The caller then uses arbitrary bits instead of a valid
  /// value.
  bool is_wild() { return below(128) == 127; }
  /// Returns a load. Most loads are small, so that decisions take little time: a decision may take
  /// 1 % of the predicted time of the coming iterations.
  double seconds() { return is_wild() ? next<double>() : below(50) * 0.25e-3; }
  std::uint64_t number() { return is_wild() ? next<std::uint64_t>() : below(200) * 1000; }
};

constexpr std::uint32_t kIdsPerRank = 16;

OwnArrays arrays_of(Input& input, std::uint32_t rank, std::uint32_t num_ranks) {
  OwnArrays own;
  const std::uint32_t num_tasks = input.below(kIdsPerRank);
  own.background_s = input.seconds();
  for (std::uint32_t t = 0; t < num_tasks; ++t) {
    own.ids.push_back(input.is_wild() ? input.below(64) : rank * kIdsPerRank + t);
    own.load_s.push_back(input.seconds());
    own.bytes.push_back(input.number());
    own.pinned.push_back(input.below(8) == 0);
    for (std::uint32_t degree = input.below(4); degree > 0; --degree) {
      const std::uint32_t to = input.below(num_ranks);
      own.to.push_back(to * kIdsPerRank + input.below(4));
      own.to_rank.push_back(input.is_wild() ? input.next<std::uint32_t>() : to);
      own.counts.push_back(input.number());
      own.message_bytes.push_back(input.number());
    }
    own.first.push_back(own.to.size());
  }
  // May make an entry of `first` wrong, but never the last one: the library cannot check this
  // entry, which is the number of neighbours.
  if (input.is_wild() && num_tasks > 0) own.first[input.below(num_tasks)] = input.below(40);
  return own;
}

bool are_counts(const std::vector<std::uint64_t>& list) {
  return std::all_of(list.begin(), list.end(), [](std::uint64_t n) { return n <= 1ULL << 53; });
}

bool is_time(double s) { return s >= 0 && s <= 1e15; }

bool are_unique(const std::vector<std::uint64_t>& ids) {
  return std::set(ids.begin(), ids.end()).size() == ids.size();
}

std::vector<std::uint64_t> ids_of(const std::vector<OwnArrays>& all) {
  std::vector<std::uint64_t> ids;
  for (const OwnArrays& own : all) ids.insert(ids.end(), own.ids.begin(), own.ids.end());
  return ids;
}

/// Returns whether the library must notice that two ranks use the same id. The library need not
/// notice this if there are no messages, or if the caller states the rank of every neighbour.
bool are_shared_ids_found(const std::vector<OwnArrays>& all, bool knows_ranks) {
  const auto has_messages = [](const OwnArrays& own) { return !own.to.empty(); };
  return !knows_ranks && std::any_of(all.begin(), all.end(), has_messages);
}

bool is_valid(const std::vector<OwnArrays>& all, bool knows_ranks) {
  bool is_valid = true;
  for (const OwnArrays& own : all) is_valid &= are_unique(own.ids);
  const std::vector<std::uint64_t> all_ids = ids_of(all);
  if (are_shared_ids_found(all, knows_ranks)) is_valid &= are_unique(all_ids);
  const std::set ids(all_ids.begin(), all_ids.end());
  for (const OwnArrays& own : all) {
    is_valid &= own.first[0] == 0 && std::is_sorted(own.first.begin(), own.first.end());
    is_valid &= std::all_of(own.load_s.begin(), own.load_s.end(), is_time);
    is_valid &= is_time(own.background_s) && are_counts(own.bytes) && are_counts(own.counts) &&
                are_counts(own.message_bytes);
    for (std::size_t i = 0; i < own.to.size(); ++i) {
      if (!knows_ranks) {
        is_valid &= ids.contains(own.to[i]);
      } else if (std::count(own.ids.begin(), own.ids.end(), own.to[i]) > 0) {
        // If the receiver is on this rank, the library checks only that the rank which the caller
        // has stated for the receiver exists.
        is_valid &= own.to_rank[i] < all.size();
      } else {
        is_valid &= own.to_rank[i] < all.size() &&
                    std::ranges::count(all[own.to_rank[i]].ids, own.to[i]) > 0;
      }
    }
  }
  return is_valid;
}

struct Told {
  int code = POISE_OK;
  std::string error;
  std::vector<std::uint32_t> places;
  std::uint64_t exports = 0, imports = 0;
};

std::vector<Told> planned(const poise_machine* machine, const char* strategy,
                          const std::vector<OwnArrays>& all, bool knows_ranks) {
  std::vector<Told> told(all.size());
  poise::SimulatedRanks simulated(static_cast<std::uint32_t>(all.size()));
  simulated.run([&](const poise_communication& ranks) {
    Told& own = told[ranks.rank];
    const OwnArrays& arrays = all[ranks.rank];
    own.places.assign(arrays.ids.size(), 77);
    const poise_own_tasks tasks = poise::library::c_view(arrays, knows_ranks);
    const poise_moves *exports = nullptr, *imports = nullptr;
    own.code = poise_plan_distributed(&ranks, machine, &tasks, strategy, 1, own.places.data(),
                                      &exports, &imports);
    if (own.code != POISE_OK) own.error = poise_last_error();
    if (exports != nullptr) own.exports = exports->count;
    if (imports != nullptr) own.imports = imports->count;
    poise_moves_destroy(exports);
    poise_moves_destroy(imports);
  });
  return told;
}

void expect_refused(const Told& told) {
  POISE_CHECK(told.code == POISE_BAD_INPUT);
  POISE_CHECK(told.error.size() > 10);
  POISE_CHECK(told.error.find('\n') == std::string::npos);
  for (const std::uint32_t place : told.places) POISE_CHECK(place == 77);
  POISE_CHECK(told.exports == 0);
  POISE_CHECK(told.imports == 0);
}

void expect_planned(const std::vector<OwnArrays>& all, const std::vector<Told>& told) {
  std::uint64_t leaving = 0, coming = 0;
  for (std::uint32_t rank = 0; rank < all.size(); ++rank) {
    POISE_CHECK(told[rank].code == POISE_OK);
    leaving += told[rank].exports;
    coming += told[rank].imports;
    for (std::size_t t = 0; t < all[rank].ids.size(); ++t) {
      POISE_CHECK(told[rank].places[t] < all.size());
      POISE_CHECK(all[rank].pinned[t] == 0 || told[rank].places[t] == rank);
    }
  }
  POISE_CHECK(leaving == coming);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr const char* kMachines[3][2] = {
      {"core:1", "node:1"}, {"core:2 speeds:1,0.5", "node:2 core:1"}, {"core:3", "node:3 core:1"}};
  static constexpr const char* kStrategies[] = {"poise",     "poise", "refine", "greedy",
                                                "treematch", "none",  "orb"};
  Input input(data, size);
  const std::uint32_t num_ranks = 1 + input.below(3), strategy = input.below(7);
  poise_machine* machine = nullptr;
  POISE_CHECK(poise_machine_create(kMachines[num_ranks - 1][input.below(2)], &machine) == POISE_OK);
  const bool knows_ranks = input.below(2) == 0;
  std::vector<OwnArrays> all;
  for (std::uint32_t rank = 0; rank < num_ranks; ++rank)
    all.push_back(arrays_of(input, rank, num_ranks));
  const std::vector<Told> told = planned(machine, kStrategies[strategy], all, knows_ranks);
  poise_machine_destroy(machine);
  const bool may_be_found = !are_unique(ids_of(all)) && told[0].code != POISE_OK;
  if (strategy < 5 && is_valid(all, knows_ranks) && !may_be_found)
    expect_planned(all, told);
  else
    for (const Told& own : told) expect_refused(own);
  return 0;
}
