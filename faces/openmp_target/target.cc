// Stands in for libomptarget: regions of `#pragma omp target` become tasks that other ranks may
// run. Entry points answer 0 for a region taken over and 1 for one that the caller shall run
// itself.
#include <algorithm>
#include <chameleon.h>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sys/mman.h>
#include <vector>

#include "faces/chameleon/task.h"
#include "faces/openmp_target/abi.h"
#include "faces/openmp_target/mapped.h"
#include "faces/openmp_target/regions.h"
#include "faces/openmp_target/trouble.h"

namespace {

namespace face = poise::openmp_target;

constexpr int kTaken = 0, kRunItYourself = 1;

constexpr int kBoth = CHAM_OMP_TGT_MAPTYPE_TO | CHAM_OMP_TGT_MAPTYPE_FROM;

/// One parameter of a region as data of a task.
struct Parameter {
  chameleon_map_data_entry_t entry;
  std::ptrdiff_t offset = 0;    // of what the region sees, in the data
  const char* stays = nullptr;  // why it means nothing on another rank
};

/// Memory that its region's task comes after and before others of, and no more: the task stays at
/// home.
Parameter touched(void* begin, std::size_t bytes) {
  return {chameleon_map_data_entry_create(begin, std::max<std::size_t>(bytes, 1), kBoth)};
}

/// Whether a value is an address in use by this process: the calls do not tell what `is_device_ptr`
/// hands over from any other value of eight bytes.
bool is_address(const void* value) {
  const auto number = reinterpret_cast<std::uintptr_t>(value);
  constexpr std::uintptr_t kPage = 4096, kLeast = 0x10000, kMost = std::uintptr_t{1} << 47;
  if (number < kLeast || number >= kMost) return false;
  unsigned char in_core = 0;
  return ::mincore(reinterpret_cast<void*>(number / kPage * kPage), 1, &in_core) == 0;
}

Parameter literal_of(void* value, std::int64_t bytes) {
  const bool stays = bytes == sizeof value && is_address(value);
  return {chameleon_map_data_entry_create(value, sizeof value, CHAM_OMP_TGT_MAPTYPE_LITERAL), 0,
          stays ? "an address is passed by value" : nullptr};
}

Parameter parameter_of(void* base, void* pointer, std::int64_t bytes, std::int64_t type) {
  if (type & face::kLiteral) return literal_of(base, bytes);
  int mode = static_cast<int>(type & (face::kTo | face::kFrom));
  face::Range range{static_cast<char*>(pointer), static_cast<std::size_t>(bytes)};
  const auto held = type & face::kPrivate ? std::nullopt : face::held_around(pointer);
  // Of what is held, regions keep what they do not write, and see what earlier ones wrote. With
  // eight bytes of it "to" its region clang 16 may mean all of it, by has_device_addr.
  const bool may_mean_all = mode == face::kTo && range.bytes == sizeof pointer;
  if (held && (mode != face::kTo || may_mean_all)) mode = kBoth;
  if (held && (bytes == 0 || may_mean_all)) range = *held;
  Parameter parameter;
  if (bytes == 0 && pointer && !held) {
    parameter = touched(pointer, 0);
    parameter.stays = "memory is used that is mapped nowhere";
  } else {
    parameter.entry = chameleon_map_data_entry_create(range.begin, range.bytes, mode);
    if (face::attached_within(range))
      parameter.stays = "a structure was mapped with what its pointer points to";
  }
  parameter.offset = static_cast<char*>(base) - range.begin;
  return parameter;
}

/// What a region's task is called with, in order, and behind that what else it touches: superfluous
/// arguments do no harm.
struct Call {
  std::vector<Parameter> parameters, touched;
  std::vector<std::size_t> copied;  // parameters that the region has as its own
  const char* stays = nullptr;
};

void add_argument(Call& call, const face::KernelArguments& region, std::uint32_t i) {
  const std::int64_t type = region.types[i];
  void *base = region.bases[i], *pointer = region.pointers[i];
  const auto bytes = static_cast<std::size_t>(region.sizes[i]);
  const bool is_parameter = type & face::kTargetParameter;
  const bool is_part = !is_parameter || (type & (face::kPointerAndObject | face::kMemberOf));
  if (region.mappers && region.mappers[i]) call.stays = "user-defined mappers are not supported";
  if (is_part) {
    call.stays = "structures are mapped as a whole only, without what their pointers point to";
    if (!(type & face::kLiteral) && pointer) call.touched.push_back(touched(pointer, bytes));
  }
  if (!is_parameter) return;
  if (type & face::kPointerAndObject) std::memcpy(&base, base, sizeof base);
  if (type & face::kPrivate) call.copied.push_back(call.parameters.size());
  call.parameters.push_back(parameter_of(base, pointer, region.sizes[i], type));
  const Parameter& parameter = call.parameters.back();
  if (!parameter.stays) return;
  call.stays = parameter.stays;
  if (type & face::kLiteral) call.touched.push_back(touched(base, 0));
}

Call call_of(const face::KernelArguments& region) {
  Call call;
  if (region.version == 3)  // a parameter that only devices with an environment of their own use
    call.parameters.push_back(literal_of(nullptr, 0));
  for (std::uint32_t i = 0; i < region.num_arguments; ++i) add_argument(call, region, i);
  return call;
}

/// As a task of its own, ordered by the data it touches like OpenMP's depend clauses would.
int defer(void* code, const face::KernelArguments& region) {
  Call call = call_of(region);
  if (call.stays) face::say(call.stays, "stay at home");
  call.parameters.insert(call.parameters.end(), call.touched.begin(), call.touched.end());
  std::vector<chameleon_map_data_entry_t> entries;
  for (const Parameter& parameter : call.parameters) entries.push_back(parameter.entry);
  cham_migratable_task_t* task =
      chameleon_create_task(code, static_cast<int>(entries.size()), entries.data());
  if (!task) return kRunItYourself;
  for (const Parameter& parameter : call.parameters) task->offsets.push_back(parameter.offset);
  for (const std::size_t i : call.copied) task->keep_copy_of(i);
  task->pinned = call.stays;
  task->ordered = true;
  return chameleon_add_task(task) == CHAM_SUCCESS ? kTaken : kRunItYourself;
}

int meet(std::int64_t device, const void* mark, const face::KernelArguments& region, bool nowait) {
  const bool is_for_mpi = device == CHAMELEON_MPI || (device != CHAMELEON_HOST && nowait);
  if (!is_for_mpi || !poise::chameleon::is_up() || face::offload() == face::Offload::kDisabled)
    return kRunItYourself;
  if (region.version != 2 && region.version != 3) {
    face::say("this compiler's calls are of an unknown version", "run where they are met");
    return kRunItYourself;
  }
  void* code = face::code_of(mark);
  return code ? defer(code, region) : kRunItYourself;
}

/// The memory, and the pointers to memory, of `target data`.
template <typename ForRange, typename ForPointer>
void change_held(std::int32_t count, void** bases, void** pointers, const std::int64_t* sizes,
                 const std::int64_t* types, ForRange for_range, ForPointer for_pointer) {
  for (std::int32_t i = 0; i < count; ++i) {
    const bool is_object = types[i] & face::kPointerAndObject, gone = types[i] & face::kDelete;
    if (sizes[i] <= 0 || ((types[i] & face::kMemberOf) && !is_object)) continue;
    for_range({static_cast<char*>(pointers[i]), static_cast<std::size_t>(sizes[i])}, gone);
    if (is_object) for_pointer(bases[i], gone);
  }
}

void hold(std::int32_t count, void** bases, void** pointers, const std::int64_t* sizes,
          const std::int64_t* types) {
  change_held(
      count, bases, pointers, sizes, types, [](face::Range range, bool) { face::hold(range); },
      [](void* pointer, bool) { face::attach(pointer); });
}

void release(std::int32_t count, void** bases, void** pointers, const std::int64_t* sizes,
             const std::int64_t* types) {
  change_held(count, bases, pointers, sizes, types, face::release, face::detach);
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
void __tgt_register_requires(std::int64_t what) { face::require(what); }
void __tgt_init_all_rtls() {}
void __tgt_rtl_init() {}
void __tgt_rtl_deinit() {}

int __tgt_target_kernel(void*, std::int64_t device, std::int32_t num_teams,
                        std::int32_t thread_limit, void* mark,
                        const face::KernelArguments* region) {
  const int met = meet(device, mark, *region, region->version > 1 && (region->flags & 1));
  const bool is_serial =
      num_teams == -1;  // as it begins: neither "teams" nor "parallel" belongs to it
  if (met == kTaken && is_serial && thread_limit > 0)
    face::say("thread_limit without teams is not supported", "run as if it were not there");
  return met;
}
int __tgt_target_kernel_nowait(void*, std::int64_t device, std::int32_t, std::int32_t, void* mark,
                               const face::KernelArguments* region, std::int32_t, void*,
                               std::int32_t, void*) {
  return meet(device, mark, *region, true);
}

// Regions see the program's own memory, so that data need not be moved: it is enough to know it.

#define DATA                                                                                    \
  void *, std::int64_t, std::int32_t count, void **bases, void **pointers, std::int64_t *sizes, \
      std::int64_t *types, void **, void **
#define DEPENDENCES std::int32_t, void*, std::int32_t, void*

void __tgt_target_data_begin_mapper(DATA) { hold(count, bases, pointers, sizes, types); }
void __tgt_target_data_end_mapper(DATA) { release(count, bases, pointers, sizes, types); }
void __tgt_target_data_begin_nowait_mapper(DATA, DEPENDENCES) {
  hold(count, bases, pointers, sizes, types);
}
void __tgt_target_data_end_nowait_mapper(DATA, DEPENDENCES) {
  release(count, bases, pointers, sizes, types);
}
void __tgt_target_data_update_mapper(void*, std::int64_t, std::int32_t, void**, void**,
                                     std::int64_t*, std::int64_t*, void**, void**) {}
void __tgt_target_data_update_nowait_mapper(void*, std::int64_t, std::int32_t, void**, void**,
                                            std::int64_t*, std::int64_t*, void**, void**,
                                            DEPENDENCES) {}

// Regions that want mappers stay at home, where nobody asks what those map.
std::int64_t __tgt_mapper_num_components(void*) { return 0; }
void __tgt_push_mapper_component(void*, void*, void*, std::int64_t, std::int64_t, void*) {}

// There is no device: all memory is the host's.

int omp_get_num_devices(void) { return 0; }
int omp_get_device_num(void) { return 0; }
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
