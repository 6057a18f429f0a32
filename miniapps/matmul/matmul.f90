! Dense matrix products as tasks, in Fortran: all on rank 0.
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
  ! What was said of the task that runs.
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
  subroutine refuse(data, bytes, num_items) bind(c)
    type(c_ptr), intent(in) :: data(*)
    integer(c_size_t), intent(in) :: bytes(*)
    integer(c_int), value :: num_items
    if (num_items == 0 .or. .not. c_associated(data(1)) .or. bytes(1) == 8) call poise_task_fail("on purpose")
  end subroutine
end module

program matmul_fortran
  use mpi
  use products
  implicit none
  integer, parameter :: num_tasks = 40
  integer(c_int), target :: n = 30
  integer :: level, ierror, rank, t, status
  integer(c_int) :: id, refuse_id
  type(c_ptr) :: context
  type(poise_item) :: items(4)
  type(poise_annotation), target :: annotations(3)
  character(kind=c_char, len=8), target :: words(4)
  real(c_double), allocatable, target :: a(:, :, :), b(:, :, :), c(:, :, :)
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  if (poise_tasks_register("multiply", c_funloc(multiply), id) /= poise_ok) error stop "register"
  if (poise_tasks_register("refuse", c_funloc(refuse), refuse_id) /= poise_ok) error stop "register"
  if (poise_tasks_create(MPI_COMM_WORLD, 2, context) /= poise_ok) error stop "create"
  allocate (a(n, n, num_tasks), b(n, n, num_tasks), c(n, n, num_tasks))
  a = 1
  b = 2
  c = -1
  words = [character(8) :: "number" // c_null_char, "half" // c_null_char, "kind" // c_null_char, &
           "product" // c_null_char]
  do t = 1, num_tasks
    if (rank > 0) exit
    items(1) = poise_item(c_loc(a(1, 1, t)), 8 * n * n, poise_in)
    items(2) = poise_item(c_loc(b(1, 1, t)), 8 * n * n, poise_in)
    items(3) = poise_item(c_loc(c(1, 1, t)), 8 * n * n, poise_out)
    items(4) = poise_item(c_loc(n), 4, poise_literal)
    annotations(1) = poise_annotation(name=c_loc(words(1)), integer=int(t, c_int64_t))
    annotations(2) = poise_annotation(name=c_loc(words(2)), kind=poise_real, real=0.5_c_double * t)
    annotations(3) = poise_annotation(name=c_loc(words(3)), kind=poise_text, text=c_loc(words(4)))
    status = poise_tasks_submit(context, id, items, &
        poise_with(cost=2.0_c_double, annotations=c_loc(annotations), num_annotations=3))
    if (status /= poise_ok) error stop "submit"
  end do
  if (poise_tasks_poll(context) /= poise_ok) error stop "poll"
  if (poise_tasks_wait_team(context, 1) /= poise_ok) error stop "wait"
  if (rank == 0 .and. any(abs(c - 2 * n) > 0)) error stop "products are WRONG"
  status = poise_tasks_submit(context, refuse_id, items(1:0))
  if (poise_tasks_wait(context) /= poise_failed) error stop "a failure went unnoticed"
  if (index(poise_last_error(), "on purpose") == 0) error stop "the reason was lost"
  if (poise_tasks_destroy(context) /= poise_ok) error stop "destroy"
  if (rank == 0) print *, "all products are right"
  call MPI_Finalize(ierror)
end program
