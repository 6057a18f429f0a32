// The tools interface of the CHAMELEON library. Include it after chameleon.h. Poise calls all
// callbacks. A replicated task runs once, on the first rank that has a free thread.
//
// The interface is that of CHAMELEON:
// Copyright (c) 2019, chameleon-hpc: Ludwig-Maximilians-University Munich (LMU),
// RWTH Aachen University, Technical University of Munich (TUM). All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause
// LICENSES/CHAMELEON.txt has the conditions and the disclaimer, which must be kept with this file.
#pragma once

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cham_t_callback_types_t {
  cham_t_callback_thread_init = 1,
  cham_t_callback_thread_finalize = 2,
  cham_t_callback_task_create = 3,
  cham_t_callback_encode_task_tool_data = 4,
  cham_t_callback_decode_task_tool_data = 5,
  cham_t_callback_task_schedule = 6,
  cham_t_callback_sync_region = 7,
  cham_t_callback_determine_local_load = 8,
  cham_t_callback_select_num_tasks_to_offload = 9,
  cham_t_callback_select_tasks_for_migration = 10,
  cham_t_callback_select_num_tasks_to_replicate = 11,
  cham_t_callback_change_freq_for_execution = 12,
  cham_t_callback_post_init_serial = 13
} cham_t_callback_types_t;

typedef enum cham_t_set_result_t {
  cham_t_set_error = 0,
  cham_t_set_never = 1,
  cham_t_set_impossible = 2,
  cham_t_set_sometimes = 3,
  cham_t_set_sometimes_paired = 4,
  cham_t_set_always = 5
} cham_t_set_result_t;

typedef enum cham_t_task_schedule_type_t {
  cham_t_task_start = 1,
  cham_t_task_yield = 2,
  cham_t_task_end = 3,
  cham_t_task_cancel = 4
} cham_t_task_schedule_type_t;

typedef enum cham_t_task_flag_t {
  cham_t_task_local = 1,
  cham_t_task_remote = 2,
  cham_t_task_replicated = 4
} cham_t_task_flag_t;

typedef enum cham_t_sync_region_type_t {
  cham_t_sync_region_taskwait = 1
} cham_t_sync_region_type_t;
typedef enum cham_t_sync_region_status_t {
  cham_t_sync_region_start = 1,
  cham_t_sync_region_end = 2
} cham_t_sync_region_status_t;

#ifdef __GNUC__
#define CHAM_T_UNUSED __attribute__((unused))
#else
#define CHAM_T_UNUSED
#endif
CHAM_T_UNUSED static const char* cham_t_task_schedule_type_t_values[] = {
    NULL, "cham_t_task_start", "cham_t_task_yield", "cham_t_task_end", "cham_t_task_cancel"};
CHAM_T_UNUSED static const char* cham_t_sync_region_type_t_values[] = {
    NULL, "cham_t_sync_region_taskwait"};
CHAM_T_UNUSED static const char* cham_t_sync_region_status_t_values[] = {
    NULL, "cham_t_sync_region_start", "cham_t_sync_region_end"};

/* "cham_t_task_local|cham_t_task_replicated": 63 characters at most. */
CHAM_T_UNUSED static void cham_t_task_flag_t_value(int type, char* buffer) {
  buffer[0] = '\0';
  if (type & cham_t_task_local) strcat(buffer, "cham_t_task_local");
  if (type & cham_t_task_remote)
    strcat(buffer, *buffer ? "|cham_t_task_remote" : "cham_t_task_remote");
  if (type & cham_t_task_replicated)
    strcat(buffer, *buffer ? "|cham_t_task_replicated" : "cham_t_task_replicated");
}

typedef union cham_t_data_t {
  uint64_t value;
  void* ptr;
} cham_t_data_t;

typedef struct cham_t_rank_info_t {
  int32_t comm_rank, comm_size;
} cham_t_rank_info_t;

typedef struct cham_t_task_meta_info_t {
  intptr_t entry_ptr;
  int32_t idx_image;
  ptrdiff_t entry_image_offset;
} cham_t_task_meta_info_t;

typedef struct cham_t_task_param_info_t {
  int32_t num_args; /* -1: unknown */
  int64_t* arg_sizes;
  int64_t* arg_types;
  void** arg_pointers;
} cham_t_task_param_info_t;

typedef struct cham_t_migration_tupel_t {
  TYPE_TASK_ID task_id;
  int32_t rank_id;
} cham_t_migration_tupel_t;

typedef struct cham_t_replication_info_t {
  int num_tasks, num_replication_ranks;
  int* replication_ranks;
} cham_t_replication_info_t;

CHAM_T_UNUSED static cham_t_migration_tupel_t cham_t_migration_tupel_create(TYPE_TASK_ID task_id,
                                                                            int32_t rank_id) {
  cham_t_migration_tupel_t tupel;
  tupel.task_id = task_id;
  tupel.rank_id = rank_id;
  return tupel;
}
CHAM_T_UNUSED static cham_t_replication_info_t cham_t_replication_info_create(
    int num_tasks, int num_replication_ranks, int* replication_ranks) {
  cham_t_replication_info_t info;
  info.num_tasks = num_tasks;
  info.num_replication_ranks = num_replication_ranks;
  info.replication_ranks = replication_ranks;
  return info;
}

/* Frees the list of ranks, which a tool allocated with malloc. */
CHAM_T_UNUSED static void free_replication_info(cham_t_replication_info_t* info) {
  free(info->replication_ranks);
  info->replication_ranks = NULL;
}

typedef void (*cham_t_interface_fn_t)(void);
typedef void (*cham_t_callback_t)(void);
typedef cham_t_interface_fn_t (*cham_t_function_lookup_t)(const char*);
typedef int (*cham_t_initialize_t)(cham_t_function_lookup_t, cham_t_data_t*);
typedef void (*cham_t_finalize_t)(cham_t_data_t*);

typedef struct cham_t_start_tool_result_t {
  cham_t_initialize_t initialize;
  cham_t_finalize_t finalize;
  cham_t_data_t tool_data;
} cham_t_start_tool_result_t;

typedef cham_t_set_result_t (*cham_t_set_callback_t)(cham_t_callback_types_t, cham_t_callback_t);
typedef int (*cham_t_get_callback_t)(cham_t_callback_types_t, cham_t_callback_t*);
typedef cham_t_data_t* (*cham_t_get_thread_data_t)(void);
typedef cham_t_data_t* (*cham_t_get_rank_data_t)(void);
typedef cham_t_rank_info_t* (*cham_t_get_rank_info_t)(void);
typedef cham_t_data_t* (*cham_t_get_task_data_t)(TYPE_TASK_ID);
typedef cham_t_task_param_info_t (*cham_t_get_task_param_info_t)(cham_migratable_task_t*);
typedef cham_t_task_param_info_t (*cham_t_get_task_param_info_by_id_t)(TYPE_TASK_ID);
typedef cham_t_task_meta_info_t (*cham_t_get_task_meta_info_t)(cham_migratable_task_t*);
typedef cham_t_task_meta_info_t (*cham_t_get_task_meta_info_by_id_t)(TYPE_TASK_ID);

typedef void (*cham_t_callback_thread_init_t)(cham_t_data_t* thread_data);
typedef void (*cham_t_callback_thread_finalize_t)(cham_t_data_t* thread_data);
typedef void (*cham_t_callback_post_init_serial_t)(cham_t_data_t* thread_data);
typedef void (*cham_t_callback_task_create_t)(cham_migratable_task_t* task,
                                              cham_t_data_t* task_data, const void* codeptr_ra);
typedef void* (*cham_t_callback_encode_task_tool_data_t)(cham_migratable_task_t* task,
                                                         cham_t_data_t* task_data, int32_t* size);
typedef void (*cham_t_callback_decode_task_tool_data_t)(cham_migratable_task_t* task,
                                                        cham_t_data_t* task_data, void* buffer,
                                                        int32_t size);
typedef void (*cham_t_callback_task_schedule_t)(
    cham_migratable_task_t* task, cham_t_task_flag_t task_flag, cham_t_data_t* task_data,
    cham_t_task_schedule_type_t schedule_type, cham_migratable_task_t* prior_task,
    cham_t_task_flag_t prior_task_flag, cham_t_data_t* prior_task_data);
typedef void (*cham_t_callback_sync_region_t)(cham_t_sync_region_type_t type,
                                              cham_t_sync_region_status_t status,
                                              cham_t_data_t* thread_data, const void* codeptr_ra);
typedef int32_t (*cham_t_callback_determine_local_load_t)(
    TYPE_TASK_ID* ids_local, int32_t num_local, TYPE_TASK_ID* ids_local_rep, int32_t num_local_rep,
    TYPE_TASK_ID* ids_stolen, int32_t num_stolen, TYPE_TASK_ID* ids_stolen_rep,
    int32_t num_stolen_rep);
typedef void (*cham_t_callback_select_num_tasks_to_offload_t)(int32_t* tasks_per_rank,
                                                              const int32_t* load_per_rank,
                                                              int32_t num_local,
                                                              int32_t num_stolen);
typedef cham_t_migration_tupel_t* (*cham_t_callback_select_tasks_for_migration_t)(
    const int32_t* load_per_rank, TYPE_TASK_ID* ids_local, int32_t num_local, int32_t num_stolen,
    int32_t* num_tuples);
typedef cham_t_replication_info_t* (*cham_t_callback_select_num_tasks_to_replicate_t)(
    const int32_t* load_per_rank, int32_t num_local, int32_t* num_infos);
typedef int32_t (*cham_t_callback_change_freq_for_execution_t)(cham_migratable_task_t* task,
                                                               int32_t load, int32_t tasks_created);
