// SPDX-License-Identifier: BSD-3-Clause
// A hash table in one array, without an allocation per entry. Its keys are hashes or handles, for
// which a multiplication suffices as the hash function.
#pragma once

#include <cstdint>
#include <vector>

namespace poise::profile {

/// Find, insert and erase take O(1); finding needs neither a function call nor a division. The keys
/// 0 and 1 are reserved.
template <typename Value>
class KeyTable {
 public:
  /// Returns null if the key is not there. The pointer is valid until the next insertion.
  Value* find(std::uint64_t key) {
    if (size_ == 0) return nullptr;
    for (std::size_t at = home(key);; at = (at + 1) & mask()) {
      Slot& slot = slots_[at];
      if (slot.key == key) return &slot.value;
      if (slot.key == kFree) return nullptr;
    }
  }

  /// Returns the value of the key, inserting it first if necessary.
  Value& operator[](std::uint64_t key) {
    if (Value* const found = find(key)) return *found;
    if (2 * (used_ + 1) > slots_.size()) rehash();
    std::size_t at = home(key);
    while (slots_[at].key > kErased) at = (at + 1) & mask();
    if (slots_[at].key == kFree) ++used_;
    slots_[at] = {key, Value{}};
    ++size_;
    return slots_[at].value;
  }

  void erase(std::uint64_t key) {
    if (size_ == 0) return;
    for (std::size_t at = home(key);; at = (at + 1) & mask()) {
      if (slots_[at].key == kFree) return;
      if (slots_[at].key != key) continue;
      --size_;
      // An erased entry needs a marker only if a search may continue past it, that is, if the next
      // slot is in use.
      const bool is_last = slots_[(at + 1) & mask()].key == kFree;
      slots_[at].key = is_last ? kFree : kErased;
      if (is_last) --used_;
      return;
    }
  }

  std::size_t size() const { return size_; }

 private:
  static constexpr std::uint64_t kFree = 0, kErased = 1;
  struct Slot {
    std::uint64_t key = kFree;
    Value value{};
  };

  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t home(std::uint64_t key) const { return ((key * 0x9e3779b97f4a7c15u) >> 20) & mask(); }
  void rehash() {
    std::vector<Slot> old(4 * size_ < 32 ? 32 : 4 * capacity_of(size_));
    old.swap(slots_);
    used_ = size_;
    for (const Slot& slot : old) {
      if (slot.key <= kErased) continue;
      std::size_t at = home(slot.key);
      while (slots_[at].key != kFree) at = (at + 1) & mask();
      slots_[at] = slot;
    }
  }
  static std::size_t capacity_of(std::size_t size) {
    std::size_t power = 1;
    while (power < size) power *= 2;
    return power;
  }

  std::vector<Slot> slots_;          // their number is a power of two
  std::size_t size_ = 0, used_ = 0;  // used_ also counts erased slots
};

}  // namespace poise::profile
