! SPDX-License-Identifier: BSD-3-Clause
! A task that doubles numbers; another rank may run it.
module work
  use poise_tasks
  implicit none
contains
  subroutine twice(data, bytes, num_items) bind(c)
    type(c_ptr), intent(in) :: data(*)
    integer(c_size_t), intent(in) :: bytes(*)
    integer(c_int), value :: num_items
    real(c_double), pointer :: numbers(:)
    if (num_items /= 1) call poise_task_fail("one item expected")
    call c_f_pointer(data(1), numbers, [bytes(1) / 8])
    numbers = 2 * numbers
  end subroutine
end module

program double
  use mpi
  use work
  implicit none
  real(c_double), target :: numbers(1000)
  type(poise_item) :: items(1)
  type(c_ptr) :: context
  integer(c_int) :: id
  integer :: i, level, error, status
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level, error)
  numbers = [(i, i = 0, 999)]
  status = poise_tasks_register("twice", c_funloc(twice), id)
  status = poise_tasks_create(MPI_COMM_WORLD, 1, context, "policy=cost")
  items(1) = poise_item(c_loc(numbers), 8_c_size_t * size(numbers), poise_inout)
  status = poise_tasks_submit(context, id, items, poise_with(cost=2.0_c_double))
  status = poise_tasks_wait(context)
  status = poise_tasks_destroy(context)
  print "(a, f0.0)", "the last number is ", numbers(1000)
  call MPI_Finalize(error)
end program
