! SPDX-License-Identifier: BSD-3-Clause
! In each of 21 rounds, rank 1 sleeps LATE_US us (an environment variable) and sends to ranks 0 and 2, which receive from
! any source, with any tag, and ignore the status. The rounds are a phase with the label 1. The macro MPI_HEAD is the name
! of the MPI module.
program any_source
  use MPI_HEAD
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function usleep(us) bind(c)
      import c_int
      integer(c_int), value :: us
    end function
  end interface
  integer :: rank, i, ierror, slept, late_us, data(2)
  character(16) :: text
  MPI_REQUEST_HANDLE :: requests(1)
  call get_environment_variable("LATE_US", text)
  read (text, *) late_us
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Pcontrol(1)
  do i = 1, 21
    data = i
    if (rank == 1) then
      slept = usleep(late_us)
      call MPI_Send(data, 2, MPI_INTEGER, 0, i, MPI_COMM_WORLD, ierror)
      call MPI_Send(data, 2, MPI_INTEGER, 2, i, MPI_COMM_WORLD, ierror)
    else if (modulo(i, 3) == 0) then
      call MPI_Recv(data, 2, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    else
      call MPI_Irecv(data, 2, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, requests(1), ierror)
      if (modulo(i, 3) == 1) call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
      if (modulo(i, 3) == 2) call MPI_Waitall(1, requests, MPI_STATUSES_IGNORE, ierror)
    end if
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end do
  if (rank == 0) print '(a)', 'before the end'
  call MPI_Finalize(ierror)
end program
