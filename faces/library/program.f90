! SPDX-License-Identifier: BSD-3-Clause
! Tests libpoise from Fortran: what a program calls, and the errors that it gets for wrong
! arguments.
program library_in_fortran
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use poise
  implicit none
  type(poise_machine) :: machine
  type(poise_workload) :: workload
  type(poise_metrics) :: after
  type(poise_moves) :: moves
  integer :: places(6), now(6) = [0, 0, 0, 0, 0, 0], wrong = 0, error, i, arriving = 0
  integer(int64) :: ids(6) = [(1000 + i, i=1, 6)]
  real(real64) :: everywhere(2, 6) = 0
  character(40) :: text

  machine = machine_from("node:2 core:2")
  call check(machine%num_places == 4, "there are four places")
  workload = workload_of([1d0, 1d0, 1d0, 1d0, 2d0, 2d0], sizes=[(10_int64*i, i=1, 6)])
  call workload%set_messages([0, 1, 2], [1, 2, 3], bytes=[5_int64, 5_int64, 5_int64])
  call workload%set_graph([0_int64, 1_int64, 1_int64, 1_int64, 1_int64, 1_int64, 2_int64], [1, 0])
  call workload%set_positions(everywhere)
  call plan(machine, workload, now, places, strategy="greedy")
  after = evaluate(machine, workload, now, places)
  call check(abs(after%makespan_s - 2) < 1e-12, "greedy is perfect here")
  moves = exports(now, places, place=0, global_ids=ids)
  call check(size(moves%task) == after%migrations, "all migrations leave place 0")
  do i = 1, size(moves%task)
    call check(moves%global_id(i) == ids(moves%task(i) + 1) .and. moves%to(i) == places(moves%task(i) + 1), &
      "a move has the global id and the new place of its task")
  end do
  do i = 0, 3
    moves = imports(now, places, place=i)
    arriving = arriving + size(moves%task)
  end do
  call check(arriving == after%migrations, "each move is imported once")
  call workload%set_pinned([.true., .true., .true., .true., .true., .true.])
  call plan(machine, workload, now, places)
  call check(all(places == now), "pinned tasks stay")

  text = "NUMA48"
  machine = machine_from(text, error=error)
  call check(error == 0, "blanks after the name of a machine are ignored")
  text = "nuco"
  call machine%set_model(text, error=error)
  call check(error == 0, "blanks after the name of a model are ignored")
  text = "poise:steps=3"
  call plan(machine, workload, now, places, strategy=text, error=error)
  call check(error == 0, "blanks after a strategy are ignored")
  call machine%free()
  machine = machine_from("node:2 core:2")

  call plan(machine, workload, now, places, strategy="gredy", error=error)
  call check(error == 2 .and. index(poise_last_error(), "greedy") > 0, "an unknown strategy is refused")
  call plan(machine, workload, now(1:5), places, error=error)
  call check(error == 2 .and. poise_last_error() == "current has 5 entries; it needs 6", "an array of a wrong size is refused")
  call plan(machine, workload, [0, 0, -1, 0, 0, 0], places, error=error)
  call check(error == 2 .and. index(poise_last_error(), "current[2] is -1") > 0, "a place is refused")
  call workload%set_messages([0], [6], error=error)
  call check(error == 2 .and. index(poise_last_error(), "to[0] is 6") > 0, "a message to a task that does not exist is refused")
  call workload%set_graph([(0_int64, i=1, 6), 2_int64**32 + 2], [1, 0], error=error)
  call check(error == 2 .and. poise_last_error() == "indices has 2 entries; it needs 4294967298", &
             "a number of messages that needs 33 bits is not cut to 32")
  call machine%free()
  call workload%free()
  machine = machine_from("core:2")
  call plan(machine, workload, now, places, error=error)
  call check(error == 2 .and. index(poise_last_error(), "workload is null") > 0, "a workload that was freed is refused")
  call machine%free()
  machine = machine_from("node:2 core:", error=error)
  call check(error == 2 .and. machine%num_places == 0, "a wrong text is refused")
  if (wrong > 0) error stop 1
  print "(a)", "all is right"

contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    wrong = wrong + 1
    print "(5a)", "does not hold: ", what, " (", poise_last_error(), ")"
  end subroutine

end program
