/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements the functions that the Fortran module poise_mpi calls: <poise/poise_mpi.h> for a
   communicator of Fortran. */
#include <poise/poise_mpi.h>

poise_communication poise_mpi_ranks_f(int comm);
void poise_mpi_free_f(poise_communication* ranks);

poise_communication poise_mpi_ranks_f(int comm) {
  poise_communication ranks = {0, 0, 0, 0, 0};
  poise_mpi* mpi = (poise_mpi*)malloc(sizeof *mpi);
  if (mpi != NULL && poise_mpi_start(MPI_Comm_f2c((MPI_Fint)comm), mpi, &ranks) != MPI_SUCCESS)
    free(mpi);
  return ranks;
}

void poise_mpi_free_f(poise_communication* ranks) {
  const poise_communication none = {0, 0, 0, 0, 0};
  if (ranks->context != NULL) poise_mpi_end((poise_mpi*)ranks->context);
  free(ranks->context);
  *ranks = none;
}
