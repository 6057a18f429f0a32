! SPDX-License-Identifier: BSD-3-Clause
! Lets the ranks of an MPI communicator decide together (plan_distributed of the module poise). The communicator is
! passed as an integer, so that no Fortran module of MPI is needed. Compile poise_mpi.c, in the same folder, with the
! program.
module poise_mpi
  use, intrinsic :: iso_c_binding
  use poise, only: poise_ranks
  implicit none
  private
  public :: ranks_of, free_ranks

  interface
    ! Returns the ranks of a communicator, which is passed as an integer: MPI_COMM_WORLD or, with mpi_f08, comm%MPI_VAL.
    ! Collective. num_ranks is 0 if MPI fails.
    type(poise_ranks) function ranks_of(comm) bind(c, name="poise_mpi_ranks_f")
      import :: poise_ranks, c_int
      integer(c_int), value :: comm
    end function
    ! Collective.
    subroutine free_ranks(ranks) bind(c, name="poise_mpi_free_f")
      import :: poise_ranks
      type(poise_ranks), intent(inout) :: ranks
    end subroutine
  end interface
end module poise_mpi
