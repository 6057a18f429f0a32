// SPDX-License-Identifier: BSD-3-Clause
// <poise/poise_mpi.h>: turns an MPI communicator into the communication functions that
// poise_plan_distributed() needs. This header is compiled with the program, so libpoise works with
// any MPI. C99 and C++.
//
//     poise_mpi mpi;
//     poise_communication ranks;
//     if (poise_mpi_start(MPI_COMM_WORLD, &mpi, &ranks) != MPI_SUCCESS) ...
//     poise_plan_distributed(&ranks, machine, &own, "poise", 0, NULL, &exports, &imports);
//     poise_mpi_end(&mpi);
//
// Rank r is place r of the machine. If the machine numbers places in another order, first make a
// communicator in that order: MPI_Comm_split(comm, 0, place, &ordered).
#pragma once

#include <limits.h>
#include <mpi.h>
#include <poise/communication.h>
#include <stdlib.h>

/* What the functions below store about a communicator. */
typedef struct poise_mpi {
  MPI_Comm comm; /* a duplicate, so that these messages match no receives of the program */
  /* Alternates between 0 and 1, so that an exchange receives no messages of the next one. */
  int tag;
} poise_mpi;

/* Receives all messages that have arrived. Returns an MPI error, or MPI_SUCCESS. If there is no
   memory for a message, receives the message without its data, so that its sender need not wait,
   and returns an error. */
static inline int poise_mpi_receive(poise_mpi* mpi, poise_receive receive, void* receiver) {
  int failure = MPI_SUCCESS;
  for (;;) {
    int has_come = 0, bytes = 0, result;
    MPI_Status status;
    void* buffer;
    result = MPI_Iprobe(MPI_ANY_SOURCE, mpi->tag, mpi->comm, &has_come, &status);
    if (result != MPI_SUCCESS) return result;
    if (!has_come) return failure;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    buffer = malloc(bytes > 0 ? (size_t)bytes : 1);
    result = MPI_Recv(buffer, buffer == NULL ? 0 : bytes, MPI_BYTE, status.MPI_SOURCE, mpi->tag,
                      mpi->comm, MPI_STATUS_IGNORE);
    if (result == MPI_SUCCESS && buffer != NULL)
      receive(receiver, (uint32_t)status.MPI_SOURCE, buffer, (uint64_t)bytes);
    else
      failure = buffer == NULL ? MPI_ERR_NO_MEM : result;
    free(buffer);
  }
}

/* Starts to send the messages and counts the started sends. Returns an MPI error, or MPI_SUCCESS.
 */
static inline int poise_mpi_send(poise_mpi* mpi, uint64_t num_sends, const uint32_t* to,
                                 const void* const* data, const uint64_t* bytes, MPI_Request* sends,
                                 int* started) {
  uint64_t i;
  for (i = 0; i < num_sends; ++i) {
    int result;
    if (bytes[i] > INT_MAX) return MPI_ERR_COUNT;
    result = MPI_Issend((void*)data[i], (int)bytes[i], MPI_BYTE, (int)to[i], mpi->tag, mpi->comm,
                        &sends[*started]);
    if (result != MPI_SUCCESS) return result;
    ++*started;
  }
  return MPI_SUCCESS;
}

/* Adds to `received` the number of own messages that their receivers have received since the last
   call, in the order of sending. Returns an MPI error, or MPI_SUCCESS. */
static inline int poise_mpi_test(MPI_Request* sends, int started, int* received) {
  while (*received < started) {
    int is_received = 0;
    const int result = MPI_Test(&sends[*received], &is_received, MPI_STATUS_IGNORE);
    if (result != MPI_SUCCESS || !is_received) return result;
    ++*received;
  }
  return MPI_SUCCESS;
}

/* Sends messages, and receives those of other ranks. No rank knows which ranks send to it. A rank
   enters a non-blocking barrier once all its messages have been received; when the barrier
   completes, no message is on its way (Hoefler, Siebert, Lumsdaine, "Scalable Communication
   Protocols for Dynamic Sparse Data Exchange", PPoPP 2010). A rank on which something fails still
   takes part until the exchange ends. A message has at most 2^31 - 1 bytes. */
static inline int poise_mpi_exchange(void* context, uint64_t num_sends, const uint32_t* to,
                                     const void* const* data, const uint64_t* bytes,
                                     poise_receive receive, void* receiver) {
  poise_mpi* const mpi = (poise_mpi*)context;
  MPI_Request* const sends = (MPI_Request*)malloc((size_t)(num_sends + 1) * sizeof(MPI_Request));
  MPI_Request barrier = MPI_REQUEST_NULL;
  int started = 0, received = 0, is_in_barrier = 0, is_done = 0;
  int result = MPI_SUCCESS, failure = MPI_ERR_NO_MEM;
  if (sends != NULL) failure = poise_mpi_send(mpi, num_sends, to, data, bytes, sends, &started);
  while (!is_done && result == MPI_SUCCESS) {
    const int taken = poise_mpi_receive(mpi, receive, receiver);
    if (taken != MPI_SUCCESS) failure = taken;
    if (is_in_barrier) {
      result = MPI_Test(&barrier, &is_done, MPI_STATUS_IGNORE);
      continue;
    }
    result = poise_mpi_test(sends, started, &received);
    if (result != MPI_SUCCESS || received < started) continue;
    result = MPI_Ibarrier(mpi->comm, &barrier);
    is_in_barrier = 1;
  }
  mpi->tag = 1 - mpi->tag;
  free(sends);
  return failure != MPI_SUCCESS ? failure : result;
}

/* Combines the values of all ranks element by element and in place. All ranks get the result. */
static inline int poise_mpi_reduce(void* context, int reduction, uint64_t count, uint64_t* values) {
  return MPI_Allreduce(MPI_IN_PLACE, values, (int)count, MPI_UINT64_T,
                       reduction == POISE_MAX ? MPI_MAX : MPI_SUM, ((poise_mpi*)context)->comm);
}

/* Fills `mpi` and `ranks` for a communicator. Collective. `mpi` must not move in memory before
   poise_mpi_end(). Returns MPI_ERR_COMM for an intercommunicator, whose ranks cannot decide
   together. */
static inline int poise_mpi_start(MPI_Comm comm, poise_mpi* mpi, poise_communication* ranks) {
  int rank = 0, num_ranks = 1, is_inter = 0;
  int result = MPI_Comm_test_inter(comm, &is_inter);
  if (result != MPI_SUCCESS) return result;
  if (is_inter) return MPI_ERR_COMM;
  result = MPI_Comm_dup(comm, &mpi->comm);
  if (result != MPI_SUCCESS) return result;
  MPI_Comm_set_errhandler(mpi->comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &num_ranks);
  mpi->tag = 0;
  ranks->context = mpi;
  ranks->rank = (uint32_t)rank;
  ranks->num_ranks = (uint32_t)num_ranks;
  ranks->exchange = poise_mpi_exchange;
  ranks->reduce = poise_mpi_reduce;
  return MPI_SUCCESS;
}

/* Frees what poise_mpi_start() has created. Collective. */
static inline int poise_mpi_end(poise_mpi* mpi) { return MPI_Comm_free(&mpi->comm); }
