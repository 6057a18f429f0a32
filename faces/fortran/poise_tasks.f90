! SPDX-License-Identifier: BSD-3-Clause
! The Fortran interface to tasks that any rank of a communicator may run; see faces/c/poise_tasks.h.
!
! A task's subroutine is bind(c) and takes type(c_ptr) :: data(*), integer(c_size_t) :: bytes(*) and
! integer(c_int), value :: num_items.
!
! Texts may end with blanks, as those in character variables of fixed length do.
module poise_tasks
  use, intrinsic :: iso_c_binding
  implicit none

  enum, bind(c)
    enumerator :: poise_in = 0, poise_out, poise_inout, poise_literal
  end enum
  integer(c_int), parameter :: poise_ok = 0, poise_failed = 1, poise_bad_input = 2

  type, bind(c) :: poise_item
    type(c_ptr) :: data = c_null_ptr
    integer(c_size_t) :: bytes = 0
    integer(c_int) :: mode = poise_in
  end type poise_item

  enum, bind(c)
    enumerator :: poise_integer = 0, poise_real, poise_text
  end enum

  ! A named value that travels with a task. The name ends with c_null_char, and so does the value if
  ! it is a text.
  type, bind(c) :: poise_annotation
    type(c_ptr) :: name = c_null_ptr
    integer(c_int) :: kind = poise_integer
    integer(c_int64_t) :: integer = 0
    real(c_double) :: real = 0
    type(c_ptr) :: text = c_null_ptr
  end type poise_annotation

  type, bind(c) :: poise_with
    real(c_double) :: cost = 1
    integer(c_int32_t) :: priority = 0
    integer(c_int) :: pinned = 0, ordered = 0
    type(c_funptr) :: on_finish = c_null_funptr
    type(c_ptr) :: argument = c_null_ptr
    type(c_ptr) :: replicas = c_null_ptr
    integer(c_int) :: num_replicas = 0
    type(c_ptr) :: annotations = c_null_ptr  ! array of num_annotations annotations
    integer(c_int) :: num_annotations = 0
  end type poise_with

  interface
    integer(c_int) function register_c(name, function, id) bind(c, name="poise_tasks_register")
      import :: c_int, c_char, c_funptr
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr), value :: function
      integer(c_int), intent(out) :: id
    end function
    integer(c_int) function create_c(communicator, threads, settings, context) &
        bind(c, name="poise_tasks_create_fortran")
      import :: c_int, c_char, c_ptr
      integer(c_int), value :: communicator, threads
      character(kind=c_char), intent(in) :: settings(*)
      type(c_ptr), intent(out) :: context
    end function
    integer(c_int) function poise_tasks_destroy(context) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: context
    end function
    integer(c_int) function submit_c(context, function, items, num_items, with) &
        bind(c, name="poise_tasks_submit")
      import :: c_int, c_ptr, poise_item, poise_with
      type(c_ptr), value :: context
      integer(c_int), value :: function, num_items
      type(poise_item) :: items(*)
      type(poise_with), optional :: with
    end function
    type(c_ptr) function poise_tasks_allocate(context, bytes) bind(c)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: context
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function poise_tasks_free(context, data) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: context, data
    end function
    integer(c_int) function poise_tasks_wait(context) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: context
    end function
    integer(c_int) function poise_tasks_wait_team(context, num_threads) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: context
      integer(c_int), value :: num_threads
    end function
    ! Runs one task if one is queued. Sets `ran` to 1 if a task ran, otherwise to 0.
    integer(c_int) function poise_tasks_yield(context, ran) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: context
      integer(c_int), intent(out), optional :: ran
    end function
    integer(c_int) function poise_tasks_poll(context) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: context
    end function
    type(c_ptr) function poise_tasks_current() bind(c)
      import :: c_ptr
    end function
    type(c_ptr) function last_error_c() bind(c, name="poise_tasks_last_error")
      import :: c_ptr
    end function
    integer(c_int) function task_integer_c(name, value) bind(c, name="poise_task_integer")
      import :: c_int, c_char, c_int64_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(inout) :: value
    end function
    integer(c_int) function task_real_c(name, value) bind(c, name="poise_task_real")
      import :: c_int, c_char, c_double
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(inout) :: value
    end function
    integer(c_int) function task_text_c(name, value) bind(c, name="poise_task_text")
      import :: c_int, c_char, c_ptr
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(inout) :: value
    end function
    subroutine fail_c(text) bind(c, name="poise_task_fail")
      import :: c_char
      character(kind=c_char), intent(in) :: text(*)
    end subroutine
    integer(c_size_t) function c_length(text) bind(c, name="strlen")
      import :: c_size_t, c_ptr
      type(c_ptr), value :: text
    end function
  end interface

contains

  ! Registers a subroutine under a name. Must be called on every rank before a context is created.
  integer function poise_tasks_register(name, subroutine_address, id) result(status)
    character(*), intent(in) :: name
    ! The address is passed by value. If it were passed by reference, gfortran would store the result of c_funloc() in
    ! read-only data, and some linkers refuse the relocation that this needs.
    type(c_funptr), value :: subroutine_address
    integer(c_int), intent(out) :: id
    status = register_c(trim(name) // c_null_char, subroutine_address, id)
  end function

  ! Creates a context. Collective. The communicator is an integer, as in `use mpi`; with mpi_f08 pass its mpi_val.
  integer function poise_tasks_create(communicator, threads, context, settings) result(status)
    integer, intent(in) :: communicator, threads
    type(c_ptr), intent(out) :: context
    character(*), intent(in), optional :: settings
    if (present(settings)) then
      status = create_c(communicator, threads, trim(settings) // c_null_char, context)
    else
      status = create_c(communicator, threads, c_null_char, context)
    end if
  end function

  integer function poise_tasks_submit(context, function_id, items, with) result(status)
    type(c_ptr), intent(in) :: context
    integer(c_int), intent(in) :: function_id
    ! `items` has no intent(in): with it, compilers would assume that the call does not change the data to which the
    ! items point.
    type(poise_item) :: items(:)
    type(poise_with), optional :: with
    status = submit_c(context, function_id, items, size(items), with)
  end function

  ! To be called in a task: reports that the task failed, with the reason.
  subroutine poise_task_fail(text)
    character(*), intent(in) :: text
    call fail_c(trim(text) // c_null_char)
  end subroutine

  ! To be called in a task: sets `value` to the annotation of this name. If the task has none, returns false and leaves
  ! `value` unchanged.
  logical function poise_task_integer(name, value) result(found)
    character(*), intent(in) :: name
    integer(c_int64_t), intent(inout) :: value
    found = task_integer_c(trim(name) // c_null_char, value) /= 0
  end function
  logical function poise_task_real(name, value) result(found)
    character(*), intent(in) :: name
    real(c_double), intent(inout) :: value
    found = task_real_c(trim(name) // c_null_char, value) /= 0
  end function
  logical function poise_task_text(name, value) result(found)
    character(*), intent(in) :: name
    character(:), allocatable, intent(inout) :: value
    type(c_ptr) :: address
    found = task_text_c(trim(name) // c_null_char, address) /= 0
    if (found) value = text_at(address)
  end function

  ! Returns the text of the last error.
  function poise_tasks_last_error() result(text)
    character(:), allocatable :: text
    text = text_at(last_error_c())
  end function

  function text_at(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(address, letters, [c_length(address)])
    allocate (character(size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function

end module poise_tasks
