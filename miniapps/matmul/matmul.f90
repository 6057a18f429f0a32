! SPDX-License-Identifier: BSD-3-Clause
! Dense matrix products as tasks, in Fortran: matmul_fortran SIZE TASKS_OF_RANK_0 TASKS_OF_RANK_1 …
module products
  use poise_tasks
  implicit none
contains
  subroutine multiply(data, bytes, num_items) bind(c)
    type(c_ptr), intent(in) :: data(*)
    integer(c_size_t), intent(in) :: bytes(*)
    integer(c_int), value :: num_items
    integer(c_int), pointer :: n
    real(c_double), pointer :: a(:, :), b(:, :), c(:, :)
    call c_f_pointer(data(4), n)
    if (num_items /= 4 .or. bytes(3) /= 8_c_size_t * n * n) then
      call poise_task_fail("wrong items")
      return
    end if
    call check_annotations()
    call c_f_pointer(data(1), a, [n, n])
    call c_f_pointer(data(2), b, [n, n])
    call c_f_pointer(data(3), c, [n, n])
    c = matmul(a, b)
  end subroutine
  ! Ends the program with an error unless this task has the annotations that the program gave it.
  subroutine check_annotations()
    integer(c_int64_t) :: number
    real(c_double) :: half
    character(:), allocatable :: kind
    logical :: found(4)
    kind = ""
    found(1) = poise_task_integer("number", number)
    found(2) = poise_task_real("half", half)
    found(3) = poise_task_text("kind", kind)
    found(4) = poise_task_integer("none", number)
    if (any(found .neqv. [.true., .true., .true., .false.]) .or. kind /= "product" .or. &
        nint(2 * half, c_int64_t) /= number) call poise_task_fail("wrong annotations")
  end subroutine
end module

program matmul_fortran
  use mpi
  use products
  implicit none
  integer(c_int), target :: n
  integer :: level, ierror, rank, num_tasks, t
  integer(c_int) :: id
  logical :: right
  type(c_ptr) :: context
  real(c_double), allocatable, target :: a(:, :, :), b(:, :, :), c(:, :, :)
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  n = number_given(1, 50, least=1)
  num_tasks = number_given(2 + rank, 0, least=0)
  call check(poise_tasks_register("multiply", c_funloc(multiply), id))
  call check(poise_tasks_create(MPI_COMM_WORLD, 1, context))
  allocate (a(n, n, num_tasks), b(n, n, num_tasks), c(n, n, num_tasks))
  a = 1
  b = 2
  c = -1
  do t = 1, num_tasks
    call submit_product(t)
  end do
  call check(poise_tasks_wait(context))
  right = all(abs(c - 2 * n) <= 0)
  call MPI_Allreduce(MPI_IN_PLACE, right, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierror)
  call check(poise_tasks_destroy(context))
  if (.not. right) error stop "products are WRONG"
  if (rank == 0) print *, "all products are right"
  call MPI_Finalize(ierror)

contains

  subroutine submit_product(t)
    integer, intent(in) :: t
    type(poise_item) :: items(4)
    type(poise_annotation), target :: annotations(3)
    character(kind=c_char, len=8), target :: words(4)
    integer(c_size_t) :: bytes
    words = [character(8) :: "number" // c_null_char, "half" // c_null_char, "kind" // c_null_char, &
             "product" // c_null_char]
    annotations(1) = poise_annotation(name=c_loc(words(1)), integer=int(t, c_int64_t))
    annotations(2) = poise_annotation(name=c_loc(words(2)), kind=poise_real, real=0.5_c_double * t)
    annotations(3) = poise_annotation(name=c_loc(words(3)), kind=poise_text, text=c_loc(words(4)))
    bytes = 8_c_size_t * n * n
    items(1) = poise_item(c_loc(a(1, 1, t)), bytes, poise_in)
    items(2) = poise_item(c_loc(b(1, 1, t)), bytes, poise_in)
    items(3) = poise_item(c_loc(c(1, 1, t)), bytes, poise_out)
    items(4) = poise_item(c_loc(n), 4, poise_literal)
    call check(poise_tasks_submit(context, id, items, &
               poise_with(annotations=c_loc(annotations), num_annotations=3)))
  end subroutine

  subroutine check(status)
    integer, intent(in) :: status
    if (status == poise_ok) return
    print *, "matmul_fortran: ", poise_tasks_last_error()
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine

  integer function number_given(position, otherwise, least) result(number)
    integer, intent(in) :: position, otherwise, least
    character(20) :: text
    integer :: trouble
    number = otherwise
    if (command_argument_count() < position) return
    call get_command_argument(position, text)
    read (text, *, iostat=trouble) number
    if (trouble == 0 .and. number >= least) return
    if (rank == 0) print *, "usage: matmul_fortran SIZE TASKS_OF_RANK_0 TASKS_OF_RANK_1 …"
    call MPI_Abort(MPI_COMM_WORLD, 2, ierror)
  end function

end program
