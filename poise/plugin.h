// SPDX-License-Identifier: BSD-3-Clause
// The C interface of a strategy in a shared object: `poise compare --strategies
// plugin:./libmine.so`.
//
// The library defines
//
//     int poise_strategy(const struct poise_problem *problem, uint32_t *place_of_task);
//
// The function writes the place of each task to place_of_task, which holds problem->current on
// entry, and returns 0; any other value means that it cannot work on this problem. It must not
// change the problem or keep pointers into it. The library may also define
//
//     const char *poise_strategy_error(void);
//
// which says in one line why the last call failed. C99 and C++.
#pragma once

#include <stdint.h>

/// Version of poise_problem. Later versions only append members, and increase this number.
#define POISE_PLUGIN_VERSION 2

#ifdef __cplusplus
extern "C" {
#endif

/// A load balancing problem. IDs of tasks and places start at 0. Members that are null are unknown.
struct poise_problem {
  uint32_t version;  ///< POISE_PLUGIN_VERSION of the caller
  uint32_t num_tasks, num_places, num_domains, num_nodes, num_levels;
  uint64_t seed;

  const double* load_s;        ///< per task: seconds on a place of speed 1
  const uint64_t* size_bytes;  ///< per task: what a migration sends; null: unknown
  const uint8_t* movable;      ///< per task: 0 or 1
  const uint32_t* current;     ///< per task: its current place

  /// Messages by sender, as a sparse matrix in CSR form: the messages of task t are entries
  /// indptr[t] to indptr[t + 1] - 1 of indices (the receivers), counts and bytes (totals).
  const uint64_t* indptr;
  const uint32_t* indices;
  const uint64_t *counts, *bytes;

  const double* speed;            ///< per place: relative to the fastest
  const double* background_s;     ///< per place: work of no task; null: none
  const uint32_t* domain;         ///< per place: its memory domain
  const uint32_t* node;           ///< per place: its node
  const char* const* level_name;  ///< per level of the hierarchy, coarsest first
  const uint32_t* level_group;    ///< [level * num_places + place]: its group of that level
  /// Cost factors of a message between domains, [from * num_domains + to]; null above 4,096
  /// domains.
  const double *latency_factor, *bandwidth_factor;

  /// Receiving messages from another place costs count * seconds_per_message * latency factor +
  /// bytes * seconds_per_byte * bandwidth factor. Moving a task costs seconds_per_migrated_byte for
  /// each of its bytes.
  double seconds_per_message, seconds_per_byte, seconds_per_migrated_byte;

  // Members that version 2 added. Pointers that are null mean that the values are unknown.

  const double* position;                           ///< per task: x, y, z
  const uint32_t* home;                             ///< per task: its first place
  const uint64_t *footprint_bytes, *working_bytes;  ///< per task: memory always, and while it runs
  const int32_t* shared_block;                      ///< per task: -1: none
  const uint64_t* shared_block_bytes;               ///< per block; a place holds each block once
  const uint64_t* place_bytes;                      ///< per place: memory that is not a task's
  /// The load of each task in each subphase, at [task * num_subphases + subphase]. If subphase_rule
  /// is 1, all places wait for the busiest one after each subphase; if it is 2, the subphases are
  /// kinds of work that overlap; if it is 0, only the sum of a task's loads counts.
  const double* subphase_load_s;
  const double* past_loads_s;  ///< [phase * num_tasks + task]: earlier phases, oldest first
  uint32_t num_shared_blocks, num_subphases, num_past_loads, subphase_rule;
  uint32_t loads_include;  ///< costs of messages in the loads: 0 none, 1 of sending, 2 of both
  double overlap;          ///< fraction of communication that is hidden, 0 to 1
};

/// The functions that a shared object defines. poise_strategy() is required; poise_strategy_error()
/// is optional and tells the user why a strategy failed.
int poise_strategy(const struct poise_problem* problem, uint32_t* place_of_task);
const char* poise_strategy_error(void);

#ifdef __cplusplus
}
#endif
