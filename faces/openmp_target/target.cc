// SPDX-License-Identifier: BSD-3-Clause
// Replaces libomptarget: regions of `#pragma omp target` become tasks that other ranks may run.
// An entry point returns 0 if it accepts the region, and 1 if the caller must run the region.
#include <chameleon.h>
#include <cstdlib>
#include <vector>

#include "faces/chameleon/task.h"
#include "faces/openmp_target/abi.h"
#include "faces/openmp_target/call.h"
#include "faces/openmp_target/device.h"
#include "faces/openmp_target/regions.h"
#include "faces/openmp_target/trouble.h"

namespace {

namespace face = poise::openmp_target;

constexpr int kTaken = 0, kRunItYourself = 1;

/// Submits the region as a task. The task depends on earlier tasks that use the same data, as if
/// OpenMP's depend clauses named these data.
int defer(void* code, const face::KernelArguments& region) {
  face::Call call = face::call_of(region);
  if (call.stays) face::say(call.stays, "stay on their own rank");
  call.parameters.insert(call.parameters.end(), call.touched.begin(), call.touched.end());
  std::vector<chameleon_map_data_entry_t> entries;
  for (const face::Parameter& parameter : call.parameters) entries.push_back(parameter.entry);
  cham_migratable_task_t* task = chameleon_create_task(code, entries.size(), entries.data());
  if (!task) {
    face::say("a region has more parameters than a task can have", "run on their own rank");
    return kRunItYourself;
  }
  for (const face::Parameter& parameter : call.parameters)
    task->offsets.push_back(parameter.offset);
  for (const std::size_t i : call.copied) task->keep_copy_of(i);
  task->pinned = call.stays;
  task->ordered = true;
  return chameleon_add_task(task) == CHAM_SUCCESS ? kTaken : kRunItYourself;
}

int meet(std::int64_t device, const void* mark, const face::KernelArguments& region, bool nowait) {
  if (!face::is_for_ranks(device, nowait) || !poise::chameleon::is_up() ||
      face::offload() == face::Offload::kDisabled)
    return kRunItYourself;
  if (region.version != 2 && region.version != 3) {
    face::say("the calls of this compiler are of an unknown version", "run on their own rank");
    return kRunItYourself;
  }
  void* code = face::code_of(mark);
  return code ? defer(code, region) : kRunItYourself;
}

// Switches off libomp's hidden helper tasks, which start `nowait` regions on other threads. Such a
// thread might submit a region too late, when the program already waits for its tasks; the wait
// would then miss that region. libomp reads this environment variable at the first use of OpenMP.
[[gnu::constructor]] void keep_nowait_regions_on_their_thread() {
  ::setenv("LIBOMP_USE_HIDDEN_HELPER_TASK", "0", 0);
}

}  // namespace

extern "C" {

void __tgt_register_lib(const face::Binary* binary) { face::load(*binary); }
void __tgt_unregister_lib(const face::Binary*) {}
void __tgt_register_requires(std::int64_t what) { face::require(what); }
void __tgt_init_all_rtls() {}
void __tgt_rtl_init() {}
void __tgt_rtl_deinit() {}

int __tgt_target_kernel(void*, std::int64_t device, std::int32_t num_teams,
                        std::int32_t thread_limit, void* mark,
                        const face::KernelArguments* region) {
  const int met = meet(device, mark, *region, region->version > 1 && (region->flags & 1));
  const bool is_serial = num_teams == -1;  // the region has neither "teams" nor "parallel"
  if (met == kTaken && is_serial && thread_limit > 0)
    face::say("thread_limit without teams is not supported", "run without it");
  return met;
}
int __tgt_target_kernel_nowait(void*, std::int64_t device, std::int32_t, std::int32_t, void* mark,
                               const face::KernelArguments* region, std::int32_t, void*,
                               std::int32_t, void*) {
  return meet(device, mark, *region, true);
}

}  // extern "C"
