// SPDX-License-Identifier: BSD-3-Clause
// Implements the calls that clang 14 makes, with separate arguments instead of KernelArguments.
#include "faces/openmp_target/abi.h"

namespace face = poise::openmp_target;

extern "C" {

int __tgt_target_kernel(void*, std::int64_t device, std::int32_t, std::int32_t, void* mark,
                        const face::KernelArguments* region);

#define REGION                                                                                     \
  void *where, std::int64_t device, void *mark, std::int32_t count, void **bases, void **pointers, \
      std::int64_t *sizes, std::int64_t *types, void **names, void **mappers

static int meet(REGION, bool nowait) {
  face::KernelArguments region{};
  region.version = 2;
  region.num_arguments = count;
  region.bases = bases;
  region.pointers = pointers;
  region.sizes = sizes;
  region.types = types;
  region.names = names;
  region.mappers = mappers;
  region.flags = nowait;
  return __tgt_target_kernel(where, device, 0, 0, mark, &region);
}

#define THIS_REGION where, device, mark, count, bases, pointers, sizes, types, names, mappers

int __tgt_target_mapper(REGION) { return meet(THIS_REGION, false); }
int __tgt_target_teams_mapper(REGION, std::int32_t, std::int32_t) {
  return meet(THIS_REGION, false);
}
int __tgt_target_nowait_mapper(REGION, std::int32_t, void*, std::int32_t, void*) {
  return meet(THIS_REGION, true);
}
int __tgt_target_teams_nowait_mapper(REGION, std::int32_t, std::int32_t, std::int32_t, void*,
                                     std::int32_t, void*) {
  return meet(THIS_REGION, true);
}
void __kmpc_push_target_tripcount_mapper(void*, std::int64_t, std::uint64_t) {}

}  // extern "C"
