// SPDX-License-Identifier: BSD-3-Clause
// The functions by which the ranks of a distributed decision communicate, as a table, so that
// libpoise need not link MPI. <poise/poise_mpi.h> fills the table from a communicator. C99 and C++.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Receives one message from rank `from`. The data are valid only during the call. */
typedef void (*poise_receive)(void* receiver, uint32_t from, const void* data, uint64_t bytes);

/* How reduce() combines the values of the ranks. */
enum poise_reduction { POISE_MAX = 0, POISE_SUM = 1 };

/* Both functions are collective: all ranks call them in the same order. They return 0, or another
   value if they failed on this rank. The next collective call then tells all ranks. */
typedef struct poise_communication {
  void* context;
  uint32_t rank, num_ranks;
  /* Sends the bytes[i] bytes at data[i] to rank to[i]. A rank gets at most one message from each
     other rank, and none from itself. Passes each message that arrives at this rank to
     receive(receiver, ...), in any order. */
  int (*exchange)(void* context, uint64_t num_sends, const uint32_t* to, const void* const* data,
                  const uint64_t* bytes, poise_receive receive, void* receiver);
  /* Replaces each value by its maximum over all ranks, or by its sum over all ranks modulo 2^64. */
  int (*reduce)(void* context, int reduction, uint64_t count, uint64_t* values);
} poise_communication;

#ifdef __cplusplus
}
#endif
