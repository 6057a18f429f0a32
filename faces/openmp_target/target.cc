// Stands in for libomptarget: regions of `#pragma omp target` become tasks that other ranks may
// run. Entry points answer 0 for a region taken over and 1 for one that the caller shall run
// itself.
#include <chameleon.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "faces/chameleon/task.h"
#include "faces/openmp_target/abi.h"
#include "faces/openmp_target/mapped.h"
#include "faces/openmp_target/regions.h"

namespace {

namespace face = poise::openmp_target;

constexpr int kTaken = 0, kRunItYourself = 1;

/// Each reason once: a region may be met a million times.
int refuse(const char* why) {
  static std::mutex mutex;
  static std::vector<std::string_view> said;
  const std::lock_guard lock(mutex);
  for (const std::string_view before : said)
    if (before == why) return kRunItYourself;
  said.emplace_back(why);
  std::fprintf(stderr, "omp target: %s; such regions run where they are met\n", why);
  return kRunItYourself;
}

/// One parameter of a region as data of a task.
struct Parameter {
  chameleon_map_data_entry_t entry;
  std::ptrdiff_t offset = 0;  // of what the region sees, in the data
  bool stays = false;         // means nothing on another rank
};

Parameter parameter_of(void* base, void* pointer, std::int64_t bytes, std::int64_t type) {
  const auto offset = static_cast<char*>(base) - static_cast<char*>(pointer);
  if (type & face::kLiteral)
    return {chameleon_map_data_entry_create(base, sizeof base, CHAM_OMP_TGT_MAPTYPE_LITERAL)};
  const int mode = static_cast<int>(type & (face::kTo | face::kFrom));
  if (bytes > 0 || !pointer)
    return {chameleon_map_data_entry_create(pointer, static_cast<std::size_t>(bytes), mode),
            offset};
  constexpr int kBoth = CHAM_OMP_TGT_MAPTYPE_TO | CHAM_OMP_TGT_MAPTYPE_FROM;
  if (const auto held = face::held_around(pointer))
    return {chameleon_map_data_entry_create(held->begin, held->bytes, kBoth),
            static_cast<char*>(base) - held->begin};
  return {chameleon_map_data_entry_create(base, sizeof base, CHAM_OMP_TGT_MAPTYPE_LITERAL), 0,
          true};
}

/// Why this region cannot travel; null if it can.
const char* trouble_with(const face::KernelArguments& region) {
  if (region.version != 2 && region.version != 3)
    return "this compiler's calls are of an unknown version";
  for (std::uint32_t i = 0; i < region.num_arguments; ++i) {
    if (region.mappers && region.mappers[i]) return "user-defined mappers are not supported";
    const std::int64_t type = region.types[i];
    if (!(type & face::kTargetParameter) || (type & (face::kPointerAndObject | face::kMemberOf)))
      return "structures are mapped as a whole only, without what their pointers point to";
  }
  return nullptr;
}

/// As a task of its own, ordered by the data it touches like OpenMP's depend clauses would.
int defer(void* code, const face::KernelArguments& region) {
  std::vector<Parameter> parameters;
  if (region.version == 3)  // a parameter that only devices with an environment of their own use
    parameters.push_back(
        {chameleon_map_data_entry_create(nullptr, sizeof(void*), CHAM_OMP_TGT_MAPTYPE_LITERAL)});
  for (std::uint32_t i = 0; i < region.num_arguments; ++i)
    parameters.push_back(
        parameter_of(region.bases[i], region.pointers[i], region.sizes[i], region.types[i]));
  std::vector<chameleon_map_data_entry_t> entries;
  for (const Parameter& parameter : parameters) entries.push_back(parameter.entry);
  cham_migratable_task_t* task =
      chameleon_create_task(code, static_cast<int>(entries.size()), entries.data());
  if (!task) return kRunItYourself;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    task->offsets.push_back(parameters[i].offset);
    task->pinned = task->pinned || parameters[i].stays;
  }
  const std::size_t hidden = parameters.size() - region.num_arguments;
  for (std::uint32_t i = 0; i < region.num_arguments; ++i)
    if (region.types[i] & face::kPrivate) task->keep_copy_of(hidden + i);
  task->ordered = true;
  return chameleon_add_task(task) == CHAM_SUCCESS ? kTaken : kRunItYourself;
}

int meet(std::int64_t device, const void* mark, const face::KernelArguments& region, bool nowait) {
  const bool is_for_mpi = device == CHAMELEON_MPI || (device != CHAMELEON_HOST && nowait);
  if (!is_for_mpi || !poise::chameleon::is_up()) return kRunItYourself;
  if (const char* trouble = trouble_with(region)) return refuse(trouble);
  void* code = face::code_of(mark);
  return code ? defer(code, region) : kRunItYourself;
}

void change_held(std::int32_t count, void** pointers, const std::int64_t* sizes,
                 void (*change)(face::Range)) {
  for (std::int32_t i = 0; i < count; ++i)
    if (sizes[i] > 0) change({static_cast<char*>(pointers[i]), static_cast<std::size_t>(sizes[i])});
}

// libomp would hand `nowait` regions to threads of its own, which meet them later: after the wait
// that should include them. It reads this when the program first uses OpenMP.
[[gnu::constructor]] void keep_nowait_regions_on_their_thread() {
  ::setenv("LIBOMP_USE_HIDDEN_HELPER_TASK", "0", 0);
}

}  // namespace

extern "C" {

void __tgt_register_lib(const face::Binary* binary) { face::load(*binary); }
void __tgt_unregister_lib(const face::Binary*) {}
void __tgt_register_requires(std::int64_t) {}
void __tgt_init_all_rtls() {}
void __tgt_rtl_init() {}
void __tgt_rtl_deinit() {}

int __tgt_target_kernel(void*, std::int64_t device, std::int32_t, std::int32_t, void* mark,
                        const face::KernelArguments* region) {
  return meet(device, mark, *region, region->flags & 1);
}
int __tgt_target_kernel_nowait(void*, std::int64_t device, std::int32_t, std::int32_t, void* mark,
                               const face::KernelArguments* region, std::int32_t, void*,
                               std::int32_t, void*) {
  return meet(device, mark, *region, true);
}

// Regions see the program's own memory, so that data need not be moved: it is enough to know it.

void __tgt_target_data_begin_mapper(void*, std::int64_t, std::int32_t count, void**,
                                    void** pointers, std::int64_t* sizes, std::int64_t*, void**,
                                    void**) {
  change_held(count, pointers, sizes, face::hold);
}
void __tgt_target_data_end_mapper(void*, std::int64_t, std::int32_t count, void**, void** pointers,
                                  std::int64_t* sizes, std::int64_t*, void**, void**) {
  change_held(count, pointers, sizes, face::release);
}
void __tgt_target_data_update_mapper(void*, std::int64_t, std::int32_t, void**, void**,
                                     std::int64_t*, std::int64_t*, void**, void**) {}
void __tgt_target_data_begin_nowait_mapper(void*, std::int64_t, std::int32_t count, void**,
                                           void** pointers, std::int64_t* sizes, std::int64_t*,
                                           void**, void**, std::int32_t, void*, std::int32_t,
                                           void*) {
  change_held(count, pointers, sizes, face::hold);
}
void __tgt_target_data_end_nowait_mapper(void*, std::int64_t, std::int32_t count, void**,
                                         void** pointers, std::int64_t* sizes, std::int64_t*,
                                         void**, void**, std::int32_t, void*, std::int32_t, void*) {
  change_held(count, pointers, sizes, face::release);
}
void __tgt_target_data_update_nowait_mapper(void*, std::int64_t, std::int32_t, void**, void**,
                                            std::int64_t*, std::int64_t*, void**, void**,
                                            std::int32_t, void*, std::int32_t, void*) {}

// There is no device: all memory is the host's.

int omp_get_num_devices(void) { return 0; }
int omp_get_initial_device(void) { return 0; }
void* omp_target_alloc(std::size_t bytes, int) { return std::malloc(bytes); }
void omp_target_free(void* memory, int) { std::free(memory); }
int omp_target_is_present(const void*, int) { return 1; }
int omp_target_memcpy(void* to, const void* from, std::size_t bytes, std::size_t to_offset,
                      std::size_t from_offset, int, int) {
  std::memcpy(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset,
              bytes);
  return 0;
}

}  // extern "C"
