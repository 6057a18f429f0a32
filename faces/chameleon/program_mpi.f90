! SPDX-License-Identifier: BSD-3-Clause
! A Fortran program as users of CHAMELEON write it.
module work
  use, intrinsic :: iso_c_binding
  implicit none
contains
  subroutine twice(x, y, n) bind(c)
    integer(c_int), intent(in) :: n
    real(c_double), intent(in) :: x(n)
    real(c_double), intent(out) :: y(n)
    y = 2 * x
  end subroutine
  subroutine finished(argument) bind(c)
    type(c_ptr), value :: argument
    integer(c_int), pointer :: count
    call c_f_pointer(argument, count)
    count = count + 1
  end subroutine
end module

program chameleon_program
  use mpi
  use work
  use chameleon_lib
  implicit none
  integer, parameter :: num_tasks = 50, length = 3000
  integer :: level, ierror, rank, t, result
  integer(c_int), target :: n = length
  ! There is one counter per task, because several threads may count at the same time.
  integer(c_int), target :: num_finished(num_tasks) = 0
  real(c_double), target :: x(length, num_tasks), y(length, num_tasks)
  type(map_entry), pointer :: entries(:), args(:)
  type(c_ptr) :: task, annotations
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  result = chameleon_init()
  result = chameleon_determine_base_addresses(c_null_ptr)
  y = -1
  allocate (entries(5))
  args => entries(::2)  ! a pointer to data that is not contiguous
  do t = 1, num_tasks
    x(:, t) = t
    if (rank > 0) cycle
    args(1) = map_entry(c_loc(x(1, t)), 8 * length, 1)
    args(2) = map_entry(c_loc(y(1, t)), 8 * length, 2)
    args(3) = map_entry(c_loc(n), 4, 1)
    task = chameleon_create_task(c_funloc(twice), 3, args)
    result = chameleon_set_callback_task_finish(task, c_funloc(finished), c_loc(num_finished(t)))
    result = chameleon_add_task_fortran(task)
  end do
  deallocate (entries)
  if (chameleon_distributed_taskwait(0) /= 0) error stop "the wait failed"
  if (rank == 0) then
    if (any(abs(y - 2 * x) > 0)) error stop "wrong results"
    if (any(num_finished /= 1)) error stop "wrong callbacks"
  end if
  annotations = chameleon_create_annotation_container_fortran()
  if (chameleon_get_annotation_int_fortran(annotations) /= -1) error stop "annotation from nowhere"
  result = chameleon_set_annotation_int_fortran(annotations, 7)
  if (chameleon_get_annotation_int_fortran(annotations) /= 7) error stop "annotation lost"
  result = chameleon_finalize()
  if (rank == 0) print *, "all is right"
  call MPI_Finalize(ierror)
end program
