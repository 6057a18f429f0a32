! SPDX-License-Identifier: BSD-3-Clause
! Rank 1 sleeps 20 ms in each of 20 rounds, before all ranks write a file or synchronise a window. The macro MPI_HEAD is
! the name of the MPI module. The argument names the file.
program late
  use MPI_HEAD
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function usleep(us) bind(c)
      import c_int
      integer(c_int), value :: us
    end function
  end interface
  integer :: rank, i, ierror, slept
  integer(MPI_ADDRESS_KIND) :: bytes
  integer(MPI_OFFSET_KIND) :: offset
  double precision :: data(1), memory(1)
  character(len=999) :: name
  MPI_WINDOW :: window
  MPI_FILE_HANDLE :: file
  call get_command_argument(1, name)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  bytes = 8
  offset = 8 * rank
  data = 0
  do i = 1, 20
    call MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, window, ierror)
    if (rank == 1 .and. modulo(i, 2) == 0) slept = usleep(40000)
    call MPI_Win_fence(0, window, ierror)
    call MPI_Win_free(window, ierror)
    call MPI_File_open(MPI_COMM_WORLD, trim(name), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierror)
    if (rank == 1 .and. modulo(i, 2) == 1) slept = usleep(40000)
    call MPI_File_write_at_all(file, offset, data, 1, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, ierror)
    call MPI_File_close(file, ierror)
  end do
  if (rank == 0) print '(a)', 'before the end'
  call MPI_Finalize(ierror)
end program
