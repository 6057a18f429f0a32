// SPDX-License-Identifier: BSD-3-Clause
// Implements `target data` and related directives. Regions use the memory of the program, so no
// data are moved; the ranges are only recorded.
#include <cstdint>
#include <vector>

#include "faces/openmp_target/abi.h"
#include "faces/openmp_target/mapped.h"

namespace {

namespace face = poise::openmp_target;

/// A piece of memory that a directive maps, either because the directive names it or because a
/// user-defined mapper adds it.
struct Item {
  void *base, *begin;
  std::int64_t bytes, type;
};
using Items = std::vector<Item>;

using Mapper = void (*)(void* items, void* base, void* begin, std::int64_t bytes, std::int64_t type,
                        void* name);

#define DATA                                                                                    \
  void *, std::int64_t, std::int32_t count, void **bases, void **pointers, std::int64_t *sizes, \
      std::int64_t *types, void **, void **mappers
#define THIS_DATA count, bases, pointers, sizes, types, mappers

Items items_of(std::int32_t count, void** bases, void** pointers, const std::int64_t* sizes,
               const std::int64_t* types, void** mappers) {
  Items items;
  for (std::int32_t i = 0; i < count; ++i)
    if (mappers && mappers[i])
      reinterpret_cast<Mapper>(mappers[i])(&items, bases[i], pointers[i], sizes[i], types[i],
                                           nullptr);
    else
      items.push_back({bases[i], pointers[i], sizes[i], types[i]});
  return items;
}

/// Calls for_range for each piece of memory that `target data` names, and for_pointer for each
/// pointer that it names.
template <typename ForRange, typename ForPointer>
void change_held(const Items& items, ForRange for_range, ForPointer for_pointer) {
  for (const Item& item : items) {
    const bool is_object = item.type & face::kPointerAndObject, gone = item.type & face::kDelete;
    if (item.bytes <= 0 || ((item.type & face::kMemberOf) && !is_object)) continue;
    for_range({static_cast<char*>(item.begin), static_cast<std::size_t>(item.bytes)}, gone);
    if (is_object) for_pointer(item.base, gone);
  }
}

void need_present(const Items& items) {
  for (const Item& item : items)
    if (item.type & face::kPresent)
      face::need_present({static_cast<char*>(item.begin), static_cast<std::size_t>(item.bytes)});
}

void hold(const Items& items) {
  need_present(items);
  change_held(
      items, [](face::Range range, bool) { face::hold(range); },
      [](void* pointer, bool) { face::attach(pointer); });
}

void release(const Items& items) { change_held(items, face::release, face::detach); }

}  // namespace

extern "C" {

#define DEPENDENCES std::int32_t, void*, std::int32_t, void*

void __tgt_target_data_begin_mapper(DATA) { hold(items_of(THIS_DATA)); }
void __tgt_target_data_end_mapper(DATA) { release(items_of(THIS_DATA)); }
void __tgt_target_data_update_mapper(DATA) { need_present(items_of(THIS_DATA)); }
void __tgt_target_data_begin_nowait_mapper(DATA, DEPENDENCES) { hold(items_of(THIS_DATA)); }
void __tgt_target_data_end_nowait_mapper(DATA, DEPENDENCES) { release(items_of(THIS_DATA)); }
void __tgt_target_data_update_nowait_mapper(DATA, DEPENDENCES) {
  need_present(items_of(THIS_DATA));
}

// User-defined mappers, which are compiled into the program, call these functions to count the
// pieces of memory in the list `items` and to append more.
std::int64_t __tgt_mapper_num_components(Items* items) { return items->size(); }
void __tgt_push_mapper_component(Items* items, void* base, void* begin, std::int64_t bytes,
                                 std::int64_t type, void*) {
  items->push_back({base, begin, bytes, type});
}

}  // extern "C"
