// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/communicators.h"

#include <algorithm>
#include <numeric>

#include "runtimes/profile/hash.h"

namespace poise::profile {

namespace {

// In communicators of up to this many ranks, one call translates all ranks to ranks of
// MPI_COMM_WORLD.
constexpr int kSmall = 1024;

}  // namespace

Communicator::Communicator(const MpiLibrary& mpi, Word group, Word world_group, bool inter)
    : is_inter(inter), mpi_(mpi), group_(group), world_group_(world_group) {
  mpi.group_size(group, &size);
  mpi.group_rank(group, &rank);
  if (size > kSmall) return;
  std::vector<int> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  all_.resize(ranks.size());
  mpi.group_translate_ranks(group, size, ranks.data(), world_group, all_.data());
}

Communicator::~Communicator() { mpi_.group_free(&group_); }

int Communicator::world_rank(int peer) {
  if (peer < 0 || peer >= size) return -1;
  if (!all_.empty()) return std::max(-1, all_[peer]);
  const auto [entry, is_new] = known_.try_emplace(peer, -1);
  if (is_new) mpi_.group_translate_ranks(group_, 1, &peer, world_group_, &entry->second);
  return std::max(-1, entry->second);  // MPI_UNDEFINED is negative
}

std::uint64_t Communicator::hash_of_members() const {
  std::uint64_t hash = 0;
  std::vector<int> ranks(std::min(size, kSmall)), world(ranks.size());
  for (int first = 0; first < size; first += kSmall) {
    const int count = std::min(size - first, kSmall);
    std::iota(ranks.begin(), ranks.end(), first);
    mpi_.group_translate_ranks(group_, count, ranks.data(), world_group_, world.data());
    for (int i = 0; i < count; ++i) hash = mixed(hash, std::uint32_t(world[i]));
  }
  return hash;
}

Communicators::Communicators(const MpiLibrary& mpi) : mpi_(mpi) {
  mpi.comm_group(mpi.world, &world_group_);
  ids_[mpi.world] = 1;
}

Communicator* Communicators::of(Word communicator) {
  if (communicator == last_ && last_found_ != nullptr) return last_found_;
  if (communicator == mpi_.comm_null) return nullptr;
  std::unique_ptr<Communicator>& entry = communicators_[communicator];
  if (entry == nullptr) {
    int is_inter = 0;
    Word group = 0;
    mpi_.comm_test_inter(communicator, &is_inter);
    if ((is_inter != 0 ? mpi_.comm_remote_group : mpi_.comm_group)(communicator, &group) != 0) {
      communicators_.erase(communicator);
      return nullptr;
    }
    entry = std::make_unique<Communicator>(mpi_, group, world_group_, is_inter != 0);
    entry->handle = communicator;
    if (const auto id = ids_.find(communicator); id != ids_.end()) entry->id = id->second;
  }
  last_ = communicator;
  return last_found_ = entry.get();
}

std::uint64_t Communicators::hash_of_members(Word communicator) {
  const Communicator* const known = of(communicator);
  if (known == nullptr) return 0;
  if (!known->is_inter) return known->hash_of_members();
  Word local = 0;
  mpi_.comm_group(communicator, &local);
  // For each group, the other one is remote, so both groups get the same sum of the two hashes.
  return known->hash_of_members() +
         Communicator(mpi_, local, world_group_, false).hash_of_members();
}

Communicator* Communicators::of_window(Word window) {
  std::unique_ptr<Communicator>& entry = windows_[window];
  if (entry == nullptr) {
    Word group = 0;
    if (mpi_.win_get_group(window, &group) != 0) {
      windows_.erase(window);
      return nullptr;
    }
    entry = std::make_unique<Communicator>(mpi_, group, world_group_, false);
  }
  return entry.get();
}

void Communicators::list_world_ranks(Word group, std::vector<int>& world_ranks) const {
  int size = 0;
  mpi_.group_size(group, &size);
  std::vector<int> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  world_ranks.assign(size, -1);
  if (size > 0)
    mpi_.group_translate_ranks(group, size, ranks.data(), world_group_, world_ranks.data());
  std::erase_if(world_ranks, [](int rank) { return rank < 0; });
}

Communicator* Communicators::of_file(Word file) {
  const auto found = files_.find(file);
  return found == files_.end() ? nullptr : found->second.get();
}

void Communicators::add_window(const Communicator& parent, Word window) {
  windows_.erase(window);
  Communicator* const made = of_window(window);
  if (made != nullptr && parent.id != 0) made->id = mixed(parent.id, parent.samples.count());
}

Communicator* Communicators::add(Table& table, const Communicator& parent, Word handle) {
  Word group = 0;
  if (parent.size < 2 || parent.id == 0 || mpi_.comm_group(parent.handle, &group) != 0)
    return nullptr;
  std::unique_ptr<Communicator>& made = table[handle];
  made = std::make_unique<Communicator>(mpi_, group, world_group_, false);
  made->id = mixed(parent.id, parent.samples.count());
  return made.get();
}

void Communicators::add_file(const Communicator& parent, Word file) { add(files_, parent, file); }

Communicator* Communicators::add_operation(const Communicator& parent, Word request) {
  operations_.erase(request);
  return add(operations_, parent, request);
}

Communicator* Communicators::of_operation(Word request) {
  const auto found = operations_.find(request);
  return found == operations_.end() ? nullptr : found->second.get();
}

void Communicators::forget(Word communicator) {
  communicators_.erase(communicator);
  ids_.erase(communicator);
  last_found_ = nullptr;
}

std::unique_ptr<Communicator> Communicators::taken(Word communicator) {
  std::unique_ptr<Communicator> result = taken_from(communicators_, communicator);
  forget(communicator);
  return result;
}

std::unique_ptr<Communicator> Communicators::taken_from(Table& table, Word handle) {
  const auto known = table.find(handle);
  if (known == table.end()) return nullptr;
  std::unique_ptr<Communicator> result = std::move(known->second);
  table.erase(known);
  return result;
}

void Communicators::created(Word parent, Word communicator, std::optional<std::uint64_t> group) {
  const auto id = ids_.find(parent);
  if (id == ids_.end()) return;
  const std::uint64_t parents = id->second;
  // A call that all ranks of the parent make is counted per parent. A call that only the ranks of
  // `group` make is counted per pair of parent and group. So in both cases the count is the same on
  // all ranks that make the call.
  const std::uint64_t key = group ? mixed(parents, *group) : parents;
  const std::uint64_t number = mixed(group ? key : 0, ++children_[key]);
  if (communicator == mpi_.comm_null || communicator == 0) return;
  communicators_.erase(communicator);
  last_found_ = nullptr;
  ids_[communicator] = mixed(parents, number);
}

std::vector<Communicator*> Communicators::all() {
  std::vector<Communicator*> found;
  for (const Table* const table : {&communicators_, &windows_, &files_, &operations_})
    for (const auto& [handle, communicator] : *table) found.push_back(communicator.get());
  return found;
}

std::unique_ptr<Sampled> samples_of(Communicator& communicator) {
  if (communicator.is_inter || communicator.size < 2 || communicator.id == 0 ||
      communicator.samples.kept().empty())
    return nullptr;
  auto result = std::make_unique<Sampled>(
      Sampled{.id = communicator.id,
              .rank = communicator.rank,
              .size = communicator.size,
              .own_world_rank = communicator.world_rank(communicator.rank)});
  result->samples = communicator.samples.taken();
  for (int step = 1; step < communicator.size; step *= 2) {
    result->before.push_back(communicator.world_rank(communicator.rank - step));
    result->after.push_back(communicator.world_rank(communicator.rank + step));
  }
  return result;
}

}  // namespace poise::profile
