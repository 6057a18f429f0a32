! Tasks that any rank of a communicator may run, from Fortran: see faces/c/poise_tasks.h.
!
! A task's subroutine is bind(c) and takes type(c_ptr) :: data(*), integer(c_size_t) :: bytes(*) and
! integer(c_int), value :: num_items.
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

  type, bind(c) :: poise_with
    real(c_double) :: cost = 1
    integer(c_int32_t) :: priority = 0
    integer(c_int) :: pinned = 0, ordered = 0
    type(c_funptr) :: on_finish = c_null_funptr
    type(c_ptr) :: argument = c_null_ptr
    type(c_ptr) :: replicas = c_null_ptr
    integer(c_int) :: num_replicas = 0
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
      type(poise_item), intent(in) :: items(*)
      type(poise_with), intent(in), optional :: with
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
    integer(c_int) function poise_tasks_poll(context) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: context
    end function
    type(c_ptr) function poise_tasks_current() bind(c)
      import :: c_ptr
    end function
    type(c_ptr) function last_error_c() bind(c, name="poise_last_error")
      import :: c_ptr
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

  ! Names a task's subroutine; on every rank, before a context is created.
  integer function poise_tasks_register(name, subroutine_address, id) result(status)
    character(*), intent(in) :: name
    type(c_funptr), intent(in) :: subroutine_address
    integer(c_int), intent(out) :: id
    status = register_c(name // c_null_char, subroutine_address, id)
  end function

  ! Collective. The communicator is an integer, as of `use mpi`; of mpi_f08 give its mpi_val.
  integer function poise_tasks_create(communicator, threads, context, settings) result(status)
    integer, intent(in) :: communicator, threads
    type(c_ptr), intent(out) :: context
    character(*), intent(in), optional :: settings
    if (present(settings)) then
      status = create_c(communicator, threads, settings // c_null_char, context)
    else
      status = create_c(communicator, threads, c_null_char, context)
    end if
  end function

  integer function poise_tasks_submit(context, function_id, items, with) result(status)
    type(c_ptr), intent(in) :: context
    integer(c_int), intent(in) :: function_id
    type(poise_item), intent(in) :: items(:)
    type(poise_with), intent(in), optional :: with
    status = submit_c(context, function_id, items, size(items), with)
  end function

  ! In a task: it failed, for this reason.
  subroutine poise_task_fail(text)
    character(*), intent(in) :: text
    call fail_c(text // c_null_char)
  end subroutine

  ! The text of the last error.
  function poise_last_error() result(text)
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    type(c_ptr) :: address
    integer :: i
    address = last_error_c()
    call c_f_pointer(address, letters, [c_length(address)])
    allocate (character(size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function

end module poise_tasks
