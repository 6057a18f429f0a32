// SPDX-License-Identifier: BSD-3-Clause
// The data that code compiled by clang for `#pragma omp target` passes to libomptarget (LLVM 14 to
// 19).
#pragma once

#include <cstdint>

namespace poise::openmp_target {

enum MapType : std::int64_t {
  kTo = 0x001,
  kFrom = 0x002,
  kDelete = 0x008,
  kPointerAndObject = 0x010,
  kTargetParameter = 0x020,
  kPrivate = 0x080,
  kLiteral = 0x100,
  kImplicit = 0x200,  // no clause names the variable
  kPresent = 0x1000,
  kMemberOf = static_cast<std::int64_t>(0xffff000000000000)
};

/// An entry describes one of three things: a target region, whose `address` is only an identifier;
/// a variable of `size` bytes; or, from LLVM 18 on, the requirements of the program, which are in
/// `data`.
struct Entry {
  static constexpr std::int32_t kRequires = 0x10;
  void* address;
  const char* name;
  std::size_t size;
  std::int32_t flags, data;
};

/// The requirements of `#pragma omp requires`, as bits.
enum Requirement : std::int64_t {
  kReverseOffload = 2,
  kUnifiedAddress = 4,
  kUnifiedSharedMemory = 8
};

struct DeviceImage {
  const char *begin, *end;
  const Entry *entries_begin, *entries_end;
};

struct Binary {
  std::int32_t num_images;
  const DeviceImage* images;
  const Entry *host_begin, *host_end;
};

/// Arguments of a region. LLVM 16 passes version 2. Calls of LLVM 14 are converted to version 2.
/// LLVM 17 to 19 pass version 3, whose regions have an additional first parameter.
struct KernelArguments {
  std::uint32_t version, num_arguments;
  void **bases, **pointers;
  std::int64_t *sizes, *types;
  void **names, **mappers;
  std::uint64_t trip_count;
  std::uint64_t flags;  // bit 0: nowait
  std::uint32_t num_teams[3], thread_limit[3], dynamic_memory;
};

/// The header that LLVM 15 to 18 put before an image.
struct WrappedHeader {
  std::uint8_t magic[4];  // always the bytes 10 FF 10 AD
  std::uint32_t version;
  std::uint64_t size, entry_offset, entry_size;
};
struct WrappedEntry {
  std::uint16_t image_kind, offload_kind;
  std::uint32_t flags;
  std::uint64_t string_offset, num_strings, image_offset, image_size;
};

}  // namespace poise::openmp_target
