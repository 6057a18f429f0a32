// SPDX-License-Identifier: BSD-3-Clause

#include "faces/openmp_target/call.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <sys/mman.h>

#include "faces/openmp_target/mapped.h"

namespace poise::openmp_target {

namespace {

/// Maximum number of parameters of a region that can become a task.
constexpr std::size_t kMaxParameters = 128;
constexpr const char* kAddress = "an address is passed by value";
constexpr int kBoth = CHAM_OMP_TGT_MAPTYPE_TO | CHAM_OMP_TGT_MAPTYPE_FROM;

/// True if a value of eight bytes is an address that this process has mapped. Clang does not mark
/// the pointers that `is_device_ptr` names, so an address and a number of the same value cannot be
/// distinguished.
bool is_address(const void* value) {
  const auto number = reinterpret_cast<std::uintptr_t>(value);
  constexpr std::uintptr_t kPage = 4096, kLeast = 0x10000, kMost = std::uintptr_t{1} << 47;
  if (number < kLeast || number >= kMost) return false;
  unsigned char in_core = 0;
  return ::mincore(reinterpret_cast<void*>(number / kPage * kPage), 1, &in_core) == 0;
}

void touch(Call& call, Range range) {
  call.touched.push_back(
      {chameleon_map_data_entry_create(range.begin, std::max<std::size_t>(range.bytes, 1), kBoth)});
}

/// Returns a parameter that passes the same address as `memory`, but as a literal value, because a
/// literal adds no dependency.
Parameter as_literal(const Parameter& memory) {
  char* const seen = static_cast<char*>(memory.entry.valptr) + memory.offset;
  return {chameleon_map_data_entry_create(seen, sizeof seen, CHAM_OMP_TGT_MAPTYPE_LITERAL)};
}

/// Adds dependencies for a region that may access any memory: the region waits for all earlier
/// regions, and all later regions wait for it.
void touch_anything(Call& call) {
  constexpr std::uintptr_t kFirst = 1;  // null would mean no data
  constexpr std::size_t kAll = std::size_t{1} << 55;
  for (std::size_t i = 0; i < call.parameters.size(); ++i)
    if (std::ranges::find(call.copied, i) == call.copied.end())
      call.parameters[i] = as_literal(call.parameters[i]);
  call.touched.clear();
  touch(call, {reinterpret_cast<char*>(kFirst), kAll});
}

void reach_anywhere(Call& call, const char* why) {
  call.stays = why;
  call.reaches_anywhere = true;
}

void add_literal(Call& call, void* value, std::int64_t bytes, std::int64_t type) {
  call.parameters.push_back(
      {chameleon_map_data_entry_create(value, sizeof value, CHAM_OMP_TGT_MAPTYPE_LITERAL)});
  if (bytes == sizeof value && !(type & kImplicit) && is_address(value))
    reach_anywhere(call, kAddress);
}

/// True if the range consists of eight bytes that the region reads and that hold an address. Clang
/// maps a pointer that is a member of a structure as such a range: all versions do if no clause
/// names the member, and clang 16 and 19 also do if `is_device_ptr` names it.
bool brings_address(Range range, std::int64_t type) {
  void* value = nullptr;
  if (!range.begin || range.bytes != sizeof value) return false;
  if (!(type & kTo) || (type & kPointerAndObject)) return false;
  std::memcpy(&value, range.begin, sizeof value);
  return is_address(value);
}

/// Records that the region may access any memory, if the region might follow a pointer to memory
/// that `call` does not list. The pointer is either stored in `range`, or an argument of the region
/// that points to memory which no directive maps.
void look_at(Call& call, Range range, std::int64_t type, bool is_held) {
  if (range.begin && range.bytes == 0)
    reach_anywhere(call, "memory is used that is mapped nowhere");
  else if (attached_within(range))
    reach_anywhere(call, "a structure was mapped with what its pointer points to");
  else if (!is_held && brings_address(range, type))
    reach_anywhere(call, kAddress);
}

void add_memory(Call& call, void* base, Range range, std::int64_t type) {
  int mode = type & (kTo | kFrom);
  const auto held = type & kPrivate ? std::nullopt : held_around(range.begin);
  // Memory that `target data` has mapped, and that the region may write, is copied before and after
  // the region. The region then sees what earlier regions wrote, and bytes that it does not write
  // keep their values. If a clause has_device_addr names an object, clang 16 maps only eight bytes
  // of it, as "to", although the region may access the whole object. So eight bytes that are mapped
  // as "to" may stand for the whole range that `target data` has mapped.
  const bool may_mean_all = mode == kTo && range.bytes == sizeof base;
  if (held && (mode != kTo || may_mean_all)) mode = kBoth;
  if (held && (range.bytes == 0 || may_mean_all)) range = *held;
  look_at(call, range, type, held.has_value());
  call.parameters.push_back({chameleon_map_data_entry_create(range.begin, range.bytes, mode),
                             static_cast<char*>(base) - range.begin});
}

/// Adds a dependency of the region on a member of a structure, or on the memory to which a member
/// points.
void add_part(Call& call, Range range, std::int64_t type) {
  const auto held = held_around(range.begin);
  if (held && range.bytes == 0) range = *held;
  look_at(call, range, type, held.has_value());
  if (range.begin) touch(call, range);
}

void add_argument(Call& call, const KernelArguments& region, std::uint32_t i) {
  const std::int64_t type = region.types[i];
  void* base = region.bases[i];
  const Range range{static_cast<char*>(region.pointers[i]),
                    static_cast<std::size_t>(region.sizes[i])};
  const bool is_parameter = type & kTargetParameter, is_literal = type & kLiteral;
  const bool is_part = !is_parameter || (type & (kPointerAndObject | kMemberOf));
  if (type & kPresent) need_present(range);
  if (is_part)
    call.stays = "structures are mapped as a whole only, without what their pointers point to";
  if (is_part && !is_literal) add_part(call, range, type);
  if (is_parameter && (type & kPointerAndObject)) std::memcpy(&base, base, sizeof base);
  if (is_parameter && (type & kPrivate)) call.copied.push_back(call.parameters.size());
  if (is_parameter && is_literal) add_literal(call, base, region.sizes[i], type);
  if (is_parameter && !is_literal) add_memory(call, base, range, type);
  if (region.mappers && region.mappers[i])
    reach_anywhere(call, "user-defined mappers are not supported");
}

}  // namespace

Call call_of(const KernelArguments& region) {
  Call call;
  // Regions of version 3 have an additional first parameter. Only GPUs use it; here it is null.
  if (region.version == 3) add_literal(call, nullptr, 0, kImplicit);
  for (std::uint32_t i = 0; i < region.num_arguments; ++i) add_argument(call, region, i);
  const std::size_t all = call.parameters.size() + call.touched.size();
  if (call.reaches_anywhere || all > kMaxParameters) touch_anything(call);
  return call;
}

}  // namespace poise::openmp_target
