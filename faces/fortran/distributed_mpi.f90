! SPDX-License-Identifier: BSD-3-Clause
! Tests the Fortran calls by which all ranks decide together. Run it with an MPI launcher.
program distributed_in_fortran
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi
  use poise
  use poise_mpi
  implicit none
  integer, parameter :: kTasks = 50
  type(poise_machine) :: machine
  type(poise_ranks) :: ranks
  type(poise_moves) :: leaving, coming
  integer(int64) :: ids(kTasks), indptr(kTasks + 1), next(kTasks), bytes(kTasks), in, out
  real(real64) :: load_s(kTasks), mine_s
  integer :: to(kTasks), wrong = 0, error, i, status
  character(16) :: text
  character(:), allocatable :: found

  call MPI_Init(status)
  ranks = ranks_of(MPI_COMM_WORLD)
  ids = [(int(ranks%rank, int64)*kTasks + i, i=0, kTasks - 1)]
  indptr = [(int(i, int64), i=0, kTasks)]
  next = mod(ids + 1, int(ranks%num_ranks, int64)*kTasks)
  bytes = 800
  load_s = merge(3d-3, 1d-3, ranks%rank == 0)
  write (text, "(a, i0)") "core:", ranks%num_ranks
  machine = machine_from(trim(text))
  call plan_distributed(ranks, machine, ids, load_s, indptr, next, bytes, neighbour_ranks=int(next/kTasks), &
                        rank_of_task=to, exports=leaving, imports=coming)
  do i = 1, size(leaving%task)
    call check(leaving%global_id(i) == ids(leaving%task(i) + 1) .and. leaving%to(i) == to(leaving%task(i) + 1), &
      "an export has the global id and the new rank of its task")
  end do
  call check(size(leaving%task) == count(to /= ranks%rank), "all exports are listed")
  out = sum(leaving%global_id*(leaving%to + 1))
  in = sum(coming%global_id*(coming%to + 1))
  call check(nint(total(real(in - out, real64))) == 0, "there are as many imports as exports")
  call check(ranks%num_ranks == 1 .or. total(real(out, real64)) > 0, "tasks move")
  mine_s = sum(load_s, mask=to == ranks%rank) + sum(merge(3d-3, 1d-3, coming%from == 0))
  call check(mine_s < 1.1d0*total(mine_s)/ranks%num_ranks, "loads are even")

  if (ranks%rank == 0) load_s(8) = -1
  call plan_distributed(ranks, machine, ids, load_s, error=error)
  call check(error == 2, "a wrong load on one rank is an error on all ranks")
  found = poise_last_error()
  if (ranks%rank == 0) call check(index(found, "load_s[7] is -1") > 0, "the error says where")
  if (ranks%rank /= 0) call check(index(found, "rank 0 failed") > 0, "the error says which rank")
  load_s = 1
  call plan_distributed(ranks, machine, ids, load_s(1:merge(49, 50, ranks%rank == 0)), error=error)
  call check(error == 2, "a wrong array size on one rank is an error on all ranks")
  if (ranks%rank == 0) call check(poise_last_error() == "load_s has 49 entries; it needs 50", "the error names the array")
  call machine%free()
  call free_ranks(ranks)
  wrong = nint(total(real(wrong, real64)))
  call MPI_Finalize(status)
  if (wrong > 0) error stop 1
  print "(a)", "all is right"

contains

  ! Returns the sum of `value` over all ranks.
  real(real64) function total(value)
    real(real64), intent(in) :: value
    integer :: ignored
    call MPI_Allreduce(value, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ignored)
  end function

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    wrong = wrong + 1
    print "(2a)", "does not hold: ", what
  end subroutine

end program
