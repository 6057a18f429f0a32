// SPDX-License-Identifier: BSD-3-Clause
// Tests calls that the supported versions of clang do not generate from directives: OpenMP's
// functions for devices and their memory, and calls of target regions in the form that later
// compilers may use. Prints failed checks and exits with status 1, or prints "all is right".
#include <chameleon.h>
#include <climits>
#include <cstdio>
#include <mpi.h>
#include <vector>

#include "faces/openmp_target/abi.h"

// Declares OpenMP's functions under other C++ names, because some versions of <omp.h> declare the
// original names, too.
int is_accessible(const void*, std::size_t, int) asm("omp_target_is_accessible");
void* mapped(const void*, int) asm("omp_get_mapped_ptr");
void* set(void*, int, std::size_t, int) asm("omp_target_memset");
int copy_async(void*, const void*, std::size_t, std::size_t, std::size_t, int, int, int,
               void*) asm("omp_target_memcpy_async");

extern "C" {
void __tgt_interop_init(void*, std::int32_t, void**, std::int32_t, std::int32_t, std::int64_t,
                        void*, std::int32_t);
void __tgt_interop_destroy(void*, std::int32_t, void**, std::int32_t, std::int32_t, std::int64_t,
                           void*, std::int32_t);
int __tgt_target_kernel(void*, std::int64_t device, std::int32_t, std::int32_t, void* mark,
                        const poise::openmp_target::KernelArguments* region);
}

namespace {

int wrong = 0;

void check(bool holds, const char* what) {
  if (holds) return;
  ++wrong;
  std::fprintf(stderr, "does not hold: %s\n", what);
}

void copies_memory() {
  const int host = omp_get_initial_device();
  std::vector<int> from(12), to(20, -1);
  for (int i = 0; i < 12; ++i) from[i] = i;
  const std::size_t volume[] = {2, 3}, to_offsets[] = {1, 2}, from_offsets[] = {1, 0},
                    to_sizes[] = {4, 5}, from_sizes[] = {3, 4};
  check(omp_target_memcpy_rect(to.data(), from.data(), sizeof(int), 2, volume, to_offsets,
                               from_offsets, to_sizes, from_sizes, host, 0) == 0,
        "a box is copied");
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::size_t row = i / 5, column = i % 5;
    const bool inside = row >= 1 && row < 3 && column >= 2;
    check(to[i] == (inside ? static_cast<int>(4 * row + column - 2) : -1), "a box is in its place");
  }
  check(omp_target_memcpy_rect(nullptr, nullptr, 0, 0, nullptr, nullptr, nullptr, nullptr, nullptr,
                               0, 0) == INT_MAX,
        "any number of dimensions is possible");
  check(copy_async(to.data(), from.data(), 8, 4, 8, 0, 0, 0, nullptr) == 0 && to[1] == 2 &&
            to[2] == 3,
        "bytes are copied");
  check(set(to.data(), 0, 8, 0) == to.data() && to[1] == 0, "bytes are set");
}

void knows_memory() {
  const int host = omp_get_initial_device();
  int x = 0;
  check(host == omp_get_num_devices(), "the number of the host is the number of devices");
  check(is_accessible(&x, sizeof x, 0), "all memory is accessible");
  check(mapped(&x, host) == &x, "the host's own address is returned for the host");
  check(!mapped(&x, 0) && !omp_target_is_present(&x, 0), "what was not mapped is not present");
  check(omp_target_associate_ptr(&x, &wrong, sizeof x, 0, 0) != 0 &&
            omp_target_disassociate_ptr(&x, 0) != 0,
        "memory is not associated with other memory");
  void* interop = &x;
  __tgt_interop_init(nullptr, 0, &interop, 1, 0, 0, nullptr, 0);
  check(!interop, "interop objects are none");
  __tgt_interop_destroy(nullptr, 0, &interop, 1, 0, 0, nullptr, 0);
}

void leaves_unknown_regions_alone() {
  poise::openmp_target::KernelArguments region{};
  region.version = 99;
  check(__tgt_target_kernel(nullptr, CHAMELEON_MPI, 0, 0, nullptr, &region) == 1,
        "a region of an unknown version is left to its caller");
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  check(chameleon_init() == CHAM_SUCCESS, "chameleon_init succeeds");
  copies_memory();
  knows_memory();
  leaves_unknown_regions_alone();
  check(chameleon_finalize() == CHAM_SUCCESS, "chameleon_finalize succeeds");
  MPI_Finalize();
  if (wrong == 0) std::printf("all is right\n");
  return wrong ? 1 : 0;
}
