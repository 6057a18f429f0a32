// The interface of the CHAMELEON library (Klinkenberg et al. 2020), served by Poise's tasks:
// programs written for it compile and link unchanged. C99 and C++11.
//
// The interface is that of CHAMELEON:
// Copyright (c) 2019, chameleon-hpc: Ludwig-Maximilians-University Munich (LMU),
// RWTH Aachen University, Technical University of Munich (TUM). All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause
// LICENSES/CHAMELEON.txt has the conditions and the disclaimer, which must be kept with this file.
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <inttypes.h>
#include <omp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef TYPE_TASK_ID
#define TYPE_TASK_ID int
#endif
#ifndef CHAMELEON_VERSION
#define CHAMELEON_VERSION 10
#endif
#ifndef DPxMOD
#define DPxMOD "0x%0*" PRIxPTR
#endif
#ifndef DPxPTR
#define DPxPTR(ptr) ((int)(2 * sizeof(uintptr_t))), ((uintptr_t)(ptr))
#endif

/* Poise uses only the flags TO, FROM and LITERAL. */
enum chameleon_tgt_map_type {
  CHAM_OMP_TGT_MAPTYPE_NONE = 0x000,
  CHAM_OMP_TGT_MAPTYPE_TO = 0x001,
  CHAM_OMP_TGT_MAPTYPE_FROM = 0x002,
  CHAM_OMP_TGT_MAPTYPE_ALWAYS = 0x004,
  CHAM_OMP_TGT_MAPTYPE_DELETE = 0x008,
  CHAM_OMP_TGT_MAPTYPE_PTR_AND_OBJ = 0x010,
  CHAM_OMP_TGT_MAPTYPE_TARGET_PARAM = 0x020,
  CHAM_OMP_TGT_MAPTYPE_RETURN_PARAM = 0x040,
  CHAM_OMP_TGT_MAPTYPE_PRIVATE = 0x080,
  CHAM_OMP_TGT_MAPTYPE_LITERAL = 0x100,
  CHAM_OMP_TGT_MAPTYPE_IMPLICIT = 0x200
};
#define CHAM_OMP_TGT_MAPTYPE_MEMBER_OF 0xffff000000000000

typedef enum chameleon_device_ids_t {
  CHAMELEON_HOST = 1001,
  CHAMELEON_MPI = 1002
} chameleon_device_ids_t;

typedef enum chameleon_result_types_t {
  CHAM_SUCCESS = 0,
  CHAM_FAILURE = 1,
  CHAM_LOCAL_TASK_NONE = 2,
  CHAM_LOCAL_TASK_SUCCESS = 3,
  CHAM_LOCAL_TASK_FAILURE = 4,
  CHAM_REMOTE_TASK_NONE = 5,
  CHAM_REMOTE_TASK_SUCCESS = 6,
  CHAM_REMOTE_TASK_FAILURE = 7,
  CHAM_REPLICATED_TASK_NONE = 8,
  CHAM_REPLICATED_TASK_SUCCESS = 9,
  CHAM_REPLICATED_TASK_ALREADY_AVAILABLE = 10,
  CHAM_REPLICATED_TASK_FAILURE = 11
} chameleon_result_types_t;

typedef struct chameleon_map_data_entry_t {
  void* valptr;
  size_t size;
  int type;
} chameleon_map_data_entry_t;

typedef struct chameleon_annotations_t chameleon_annotations_t;
typedef struct cham_migratable_task_t cham_migratable_task_t;
typedef void (*chameleon_external_callback_t)(void* func_param);

#ifdef __GNUC__
__attribute__((unused))
#endif
static chameleon_map_data_entry_t
chameleon_map_data_entry_create(void* arg_ptr, size_t arg_size, int arg_type) {
  chameleon_map_data_entry_t entry;
  entry.valptr = arg_ptr;
  entry.size = arg_size;
  entry.type = arg_type;
  return entry;
}

#ifdef __cplusplus
extern "C" {
#endif

int32_t chameleon_init(void);
int32_t chameleon_thread_init(void);
int32_t chameleon_post_init_serial(void);
int32_t chameleon_thread_finalize(void);
int32_t chameleon_finalize(void);
int32_t chameleon_distributed_taskwait(int nowait);
int32_t chameleon_taskyield(void);
int32_t chameleon_wake_up_comm_threads(void);
int32_t chameleon_determine_base_addresses(void* main_ptr);
int32_t chameleon_set_image_base_address(int idx_image, intptr_t base_address);
void chameleon_set_proc_cpuset(cpu_set_t mask);
void chameleon_set_tracing_enabled(int enabled);
void chameleon_print(int print_prefix, const char* prefix, int rank, ...);

cham_migratable_task_t* chameleon_create_task(void* entry_point, int num_args,
                                              chameleon_map_data_entry_t* args);
int32_t chameleon_add_task(cham_migratable_task_t* task);
void chameleon_set_callback_task_finish(cham_migratable_task_t* task,
                                        chameleon_external_callback_t func_ptr, void* func_param);
TYPE_TASK_ID chameleon_get_task_id(cham_migratable_task_t* task);
TYPE_TASK_ID chameleon_get_last_local_task_id_added(void);
int32_t chameleon_local_task_has_finished(TYPE_TASK_ID task_id);
void chameleon_set_task_replication_info(cham_migratable_task_t* task, int num_ranks, int* ranks);
void* chameleon_create_task_fortran(void* entry_point, int num_args, void* args);
int32_t chameleon_add_task_fortran(void* task);

chameleon_annotations_t* chameleon_create_annotation_container(void);
int chameleon_set_annotation_int(chameleon_annotations_t* ann, const char* key, int value);
int chameleon_set_annotation_int64(chameleon_annotations_t* ann, const char* key, int64_t value);
int chameleon_set_annotation_double(chameleon_annotations_t* ann, const char* key, double value);
int chameleon_set_annotation_float(chameleon_annotations_t* ann, const char* key, float value);
int chameleon_set_annotation_string(chameleon_annotations_t* ann, const char* key,
                                    const char* value);
int chameleon_get_annotation_int(chameleon_annotations_t* ann, const char* key, int* value);
int chameleon_get_annotation_int64(chameleon_annotations_t* ann, const char* key, int64_t* value);
int chameleon_get_annotation_double(chameleon_annotations_t* ann, const char* key, double* value);
int chameleon_get_annotation_float(chameleon_annotations_t* ann, const char* key, float* value);
int chameleon_get_annotation_string(chameleon_annotations_t* ann, const char* key, char** value);
chameleon_annotations_t* chameleon_get_task_annotations(TYPE_TASK_ID task_id);
chameleon_annotations_t* chameleon_get_task_annotations_opaque(cham_migratable_task_t* task);
void chameleon_set_task_annotations(cham_migratable_task_t* task, chameleon_annotations_t* ann);

/* Functions for compilers' plug-ins, which submit data first and later refer to these data by their
   address alone. */
int32_t chameleon_submit_data(void* tgt_ptr, void* hst_ptr, int64_t size);
void chameleon_free_data(void* tgt_ptr); /* also frees tgt_ptr */
void chameleon_incr_mem_alloc(int64_t size);
cham_migratable_task_t* create_migratable_task(void* entry, void** args, ptrdiff_t* offsets,
                                               int64_t* arg_types, int32_t num_args);
void chameleon_set_img_idx_offset(cham_migratable_task_t* task, int32_t img_idx,
                                  ptrdiff_t entry_image_offset);

/* For the single key num_cells, as the Fortran module declares them. */
void* chameleon_create_annotation_container_fortran(void);
int chameleon_set_annotation_int_fortran(void* ann, int value);
int chameleon_get_annotation_int_fortran(void* ann);

#ifdef __cplusplus
}
#endif
