// SPDX-License-Identifier: BSD-3-Clause
// Implements OpenMP's functions for devices and their memory. All memory belongs to the host.
#include "faces/openmp_target/device.h"

#include <chameleon.h>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "faces/openmp_target/mapped.h"
#include "faces/openmp_target/trouble.h"

// omp_get_default_device comes from the OpenMP library of the program. If the program has no such
// library, the address of the function is null.
extern "C" int omp_get_default_device(void) __attribute__((weak));

namespace {

namespace face = poise::openmp_target;

constexpr int kFailed = -1;

int num_devices() { return face::offload() == face::Offload::kDisabled ? 0 : 1; }

bool is_host(std::int64_t device) {
  return device == CHAMELEON_HOST || device == num_devices() || device < -1;
}

/// The box that omp_target_memcpy_rect copies from one multidimensional array to another.
struct Box {
  std::size_t element_bytes;
  int num_dimensions;
  const std::size_t *volume, *to_offsets, *from_offsets, *to_sizes, *from_sizes;
};

std::size_t elements_below(const std::size_t* sizes, int dimension, int num_dimensions) {
  std::size_t elements = 1;
  while (++dimension < num_dimensions) elements *= sizes[dimension];
  return elements;
}

/// Copies the box recursively, beginning with `dimension`. Rows of the last dimension are
/// contiguous.
void copy_box(char* to, const char* from, const Box& box, int dimension) {
  const auto below = [&](const std::size_t* sizes) {
    return box.element_bytes * elements_below(sizes, dimension, box.num_dimensions);
  };
  const std::size_t to_step = below(box.to_sizes), from_step = below(box.from_sizes);
  to += box.to_offsets[dimension] * to_step;
  from += box.from_offsets[dimension] * from_step;
  const std::size_t volume = box.volume[dimension];
  if (dimension + 1 == box.num_dimensions)
    std::memcpy(to, from, volume * box.element_bytes);
  else
    for (std::size_t i = 0; i < volume; ++i)
      copy_box(to + i * to_step, from + i * from_step, box, dimension + 1);
}

void note_dependences(int count) {
  if (count > 0) face::note("asynchronous copies are made at once; their dependences are ignored");
}

}  // namespace

bool face::is_for_ranks(std::int64_t device, bool nowait) {
  if (device == CHAMELEON_MPI) return true;
  if (device == -1 && omp_get_default_device) device = omp_get_default_device();
  return nowait && !is_host(device);
}

extern "C" {

int omp_get_num_devices(void) { return num_devices(); }
int omp_get_initial_device(void) { return num_devices(); }
int omp_get_device_num(void) { return num_devices(); }

// Programs that are linked with libomp call these functions by versioned names. The names are
// defined here as well, so that such programs call Poise's functions if Poise's library is
// preloaded. libomp's own functions would look for another libomptarget.
int num_devices_for_libomp(void) { return num_devices(); }
asm(".symver num_devices_for_libomp, omp_get_num_devices@VERSION");
asm(".symver num_devices_for_libomp, omp_get_initial_device@VERSION");
asm(".symver num_devices_for_libomp, omp_get_device_num@VERSION");

void* omp_target_alloc(std::size_t bytes, int) { return std::malloc(bytes); }
void omp_target_free(void* memory, int) { std::free(memory); }

int omp_target_is_present(const void* memory, int device) {
  return memory && (is_host(device) || face::held_around(const_cast<void*>(memory)));
}
int omp_target_is_accessible(const void* memory, std::size_t, int) { return memory != nullptr; }
void* omp_get_mapped_ptr(const void* memory, int device) {
  return omp_target_is_present(memory, device) ? const_cast<void*>(memory) : nullptr;
}
int omp_target_associate_ptr(const void*, const void*, std::size_t, std::size_t, int) {
  face::note("omp_target_associate_ptr has no effect: regions use the memory of the program");
  return kFailed;
}
int omp_target_disassociate_ptr(const void*, int) { return kFailed; }

int omp_target_memcpy(void* to, const void* from, std::size_t bytes, std::size_t to_offset,
                      std::size_t from_offset, int, int) {
  if (!to || !from || bytes == 0) return bytes == 0 ? 0 : kFailed;
  std::memcpy(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset,
              bytes);
  return 0;
}
int omp_target_memcpy_async(void* to, const void* from, std::size_t bytes, std::size_t to_offset,
                            std::size_t from_offset, int to_device, int from_device, int count,
                            omp_depend_t*) {
  note_dependences(count);
  return omp_target_memcpy(to, from, bytes, to_offset, from_offset, to_device, from_device);
}

#define BOX                                                                                      \
  void *to, const void *from, std::size_t element_bytes, int num_dimensions,                     \
      const std::size_t *volume, const std::size_t *to_offsets, const std::size_t *from_offsets, \
      const std::size_t *to_sizes, const std::size_t *from_sizes, int, int

/// Copies a box from one multidimensional array to another. If both pointers are null, returns the
/// maximum number of dimensions instead.
int omp_target_memcpy_rect(BOX) {
  if (!to && !from) return INT_MAX;
  const bool is_box = to && from && element_bytes > 0 && num_dimensions > 0 && volume &&
                      to_offsets && from_offsets && to_sizes && from_sizes;
  if (!is_box) return kFailed;
  copy_box(static_cast<char*>(to), static_cast<const char*>(from),
           {element_bytes, num_dimensions, volume, to_offsets, from_offsets, to_sizes, from_sizes},
           0);
  return 0;
}
int omp_target_memcpy_rect_async(BOX, int count, omp_depend_t*) {
  note_dependences(count);
  return omp_target_memcpy_rect(to, from, element_bytes, num_dimensions, volume, to_offsets,
                                from_offsets, to_sizes, from_sizes, 0, 0);
}

void* omp_target_memset(void* memory, int value, std::size_t bytes, int) {
  return memory ? std::memset(memory, value, bytes) : nullptr;
}
void* omp_target_memset_async(void* memory, int value, std::size_t bytes, int device, int count,
                              omp_depend_t*) {
  note_dependences(count);
  return omp_target_memset(memory, value, bytes, device);
}

// Interop objects give access to a device's own queues. The ranks have no such queues, so each
// object is omp_interop_none, as with libomptarget on CPUs.

void __tgt_interop_init(void*, std::int32_t, void** interop) {
  face::note("interop objects are not supported; they are omp_interop_none");
  *interop = nullptr;
}
void __tgt_interop_use(void*, std::int32_t, void**) {}
void __tgt_interop_destroy(void*, std::int32_t, void** interop) { *interop = nullptr; }

// LLVM's own functions that control the output of libomptarget.
void __tgt_set_info_flag(std::uint32_t) {}
int __tgt_print_device_info(std::int64_t) { return 0; }

}  // extern "C"
