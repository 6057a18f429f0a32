! SPDX-License-Identifier: BSD-3-Clause
! Tests properties and annotations of tasks through the Fortran interface. The first rank has all tasks.
module work
  use poise_tasks
  implicit none
  integer(c_int) :: my_rank = 0, child_id = 0
  type(c_ptr) :: tasks = c_null_ptr
  interface
    integer(c_int) function usleep(microseconds) bind(c)
      import :: c_int
      integer(c_int), value :: microseconds
    end function
  end interface
contains

  ! A task that counts how often it ran, and stores the rank on which it ran last.
  subroutine count_run(data, bytes, num_items) bind(c)
    type(c_ptr), intent(in) :: data(*)
    integer(c_size_t), intent(in) :: bytes(*)
    integer(c_int), value :: num_items
    integer(c_int), pointer :: runs, ran_on
    if (num_items /= 2 .or. bytes(1) /= 4) call poise_task_fail("wrong items")
    if (usleep(1000) /= 0) call poise_task_fail("no sleep")
    if (.not. c_associated(poise_tasks_current(), tasks)) call poise_task_fail("whose task is this")
    call c_f_pointer(data(1), runs)
    call c_f_pointer(data(2), ran_on)
    runs = runs + 1
    ran_on = my_rank
  end subroutine

  ! This task adds up the counts of its child tasks.
  subroutine be_parent(data, bytes, num_items) bind(c)
    type(c_ptr), intent(in) :: data(*)
    integer(c_size_t), intent(in) :: bytes(*)
    integer(c_int), value :: num_items
    integer(c_int), pointer :: total
    integer(c_int), target :: runs(4), ran_on(4)
    type(poise_item) :: items(2)
    integer :: i
    runs = 0
    do i = 1, size(runs)
      items = [poise_item(c_loc(runs(i)), 4, poise_inout), poise_item(c_loc(ran_on(i)), 4, poise_out)]
      if (poise_tasks_submit(poise_tasks_current(), child_id, items) /= poise_ok) &
        call poise_task_fail("no child")
    end do
    if (poise_tasks_wait(poise_tasks_current()) /= poise_ok) call poise_task_fail("no wait")
    if (num_items /= 1 .or. bytes(1) /= 4) call poise_task_fail("wrong items")
    call c_f_pointer(data(1), total)
    total = sum(runs)
  end subroutine

  subroutine refuse(data, bytes, num_items) bind(c)
    type(c_ptr), intent(in) :: data(*)
    integer(c_size_t), intent(in) :: bytes(*)
    integer(c_int), value :: num_items
    if (num_items == 0 .or. .not. c_associated(data(1)) .or. bytes(1) == 8) &
      call poise_task_fail("on purpose")
  end subroutine

  subroutine count_finished(argument) bind(c)
    type(c_ptr), value :: argument
    integer(c_int), pointer :: count
    call c_f_pointer(argument, count)
    count = count + 1
  end subroutine

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    print *, "does not hold: ", what, " (", poise_tasks_last_error(), ")"
    error stop
  end subroutine

end module

program poise_tasks_program
  use mpi
  use work
  implicit none
  integer, parameter :: num_tasks = 60
  integer(c_int) :: parent_id, refuse_id
  integer :: level, num_ranks, ierror
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, my_rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, num_ranks, ierror)
  call check(poise_tasks_register("count", c_funloc(count_run), child_id) == poise_ok, "register")
  call check(poise_tasks_register("parent", c_funloc(be_parent), parent_id) == poise_ok, "register")
  call check(poise_tasks_register("refuse", c_funloc(refuse), refuse_id) == poise_ok, "register")
  call check(poise_tasks_create(MPI_COMM_WORLD, 1, tasks, "policy=cost,pull=1  ") == poise_ok, "create")
  call tasks_run_once(poise_with(cost=2.0_c_double))
  call tasks_run_once(poise_with(pinned=1))
  call replicated_tasks_run_once()
  call a_task_waits_for_its_children()
  call yield_runs_one_task()
  call failures_are_told()
  call check(poise_tasks_destroy(tasks) == poise_ok, "destroy")
  if (my_rank == 0) print *, "all is right"
  call MPI_Finalize(ierror)

contains

  ! Checks that each task runs once, and that some tasks run on other ranks unless tasks are pinned.
  ! Tries again if none does, because on a busy machine the other ranks may start to wait too late
  ! to get tasks.
  subroutine tasks_run_once(how)
    type(poise_with), intent(in) :: how
    logical :: some_elsewhere
    integer :: attempt
    do attempt = 1, 20
      call run_tasks(how, some_elsewhere)
      call MPI_Bcast(some_elsewhere, 1, MPI_LOGICAL, 0, MPI_COMM_WORLD, ierror)
      if (some_elsewhere .or. how%pinned /= 0) exit
    end do
    call check(some_elsewhere .eqv. how%pinned == 0, "some tasks run on other ranks unless tasks are pinned")
  end subroutine

  subroutine run_tasks(how, some_elsewhere)
    type(poise_with), intent(in) :: how
    logical, intent(out) :: some_elsewhere
    type(poise_with) :: with
    type(poise_item) :: items(2)
    type(c_ptr) :: memory
    integer(c_int), pointer :: numbers(:, :)
    ! There is one counter per task, because several threads may count at the same time.
    integer(c_int), target :: finished(num_tasks)
    integer :: t
    finished = 0
    memory = poise_tasks_allocate(tasks, 8_c_size_t * num_tasks)
    call check(c_associated(memory), "memory is allocated")
    call c_f_pointer(memory, numbers, [num_tasks, 2])
    numbers = 0
    with = how
    with%on_finish = c_funloc(count_finished)
    do t = 1, num_tasks
      if (my_rank > 0) exit
      items(1) = poise_item(c_loc(numbers(t, 1)), 4, poise_inout)
      items(2) = poise_item(c_loc(numbers(t, 2)), 4, poise_out)
      with%argument = c_loc(finished(t))
      call check(poise_tasks_submit(tasks, child_id, items, with) == poise_ok, "submit")
    end do
    call check(poise_tasks_poll(tasks) == poise_ok, "poll")
    call check(poise_tasks_wait(tasks) == poise_ok, "wait")
    if (my_rank == 0) then
      call check(all(numbers(:, 1) == 1), "each task runs once")
      call check(all(finished == 1), "on_finish is called once for each task")
    end if
    some_elsewhere = any(numbers(:, 2) > 0)
    call check(poise_tasks_free(tasks, memory) == poise_ok, "free")
  end subroutine

  subroutine replicated_tasks_run_once()
    integer(c_int), target :: last
    last = num_ranks - 1
    call tasks_run_once(poise_with(replicas=c_loc(last), num_replicas=1))
  end subroutine

  subroutine a_task_waits_for_its_children()
    integer(c_int), target :: total
    total = -1
    call check(poise_tasks_submit(tasks, parent_id, [poise_item(c_loc(total), 4, poise_out)]) == poise_ok, &
               "submit")
    call check(poise_tasks_wait_team(tasks, 1) == poise_ok, "wait")
    call check(total == 4, "the children ran before their parent went on")
  end subroutine

  subroutine yield_runs_one_task()
    integer(c_int), target :: runs, ran_on
    integer(c_int) :: ran
    runs = 0
    call check(poise_tasks_submit(tasks, child_id, [poise_item(c_loc(runs), 4, poise_inout), &
               poise_item(c_loc(ran_on), 4, poise_out)], poise_with(pinned=1)) == poise_ok, "submit")
    call check(poise_tasks_yield(tasks, ran) == poise_ok .and. ran == 1 .and. runs == 1, "yield runs one task and says so")
    call check(poise_tasks_yield(tasks) == poise_ok, "yield works without the argument")
    call check(poise_tasks_yield(tasks, ran) == poise_ok .and. ran == 0, "yield says that it ran no task")
    call check(poise_tasks_wait(tasks) == poise_ok, "wait")
  end subroutine

  subroutine failures_are_told()
    type(poise_item) :: none(0)
    call check(poise_tasks_submit(tasks, refuse_id, none) == poise_ok, "submit")
    call check(poise_tasks_wait(tasks) == poise_failed, "a wait reports that a task failed")
    call check(index(poise_tasks_last_error(), "on purpose") > 0, "the error text contains the reason of the failure")
    call check(poise_tasks_submit(tasks, 999, none) == poise_bad_input, "function 999 is refused")
    call check(poise_tasks_wait_team(tasks, 0) == poise_bad_input, "a team of 0 threads is refused")
  end subroutine

end program
