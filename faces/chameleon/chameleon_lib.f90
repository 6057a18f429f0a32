! The Fortran module of the CHAMELEON library, implemented with Poise's tasks.
!
! The interface is that of CHAMELEON:
! Copyright (c) 2019, chameleon-hpc: Ludwig-Maximilians-University Munich (LMU),
! RWTH Aachen University, Technical University of Munich (TUM). All rights reserved.
! SPDX-License-Identifier: BSD-3-Clause
! LICENSES/CHAMELEON.txt has the conditions and the disclaimer, which must be kept with this file.
module chameleon_lib
  use, intrinsic :: iso_c_binding
  implicit none

  type, bind(c) :: map_entry
    type(c_ptr) :: valptr
    integer(c_size_t) :: size
    integer(c_int) :: type
  end type map_entry

  interface
    integer(c_int) function chameleon_init() bind(c)
      import :: c_int
    end function
    integer(c_int) function chameleon_thread_init() bind(c)
      import :: c_int
    end function
    integer(c_int) function chameleon_finalize() bind(c)
      import :: c_int
    end function
    integer(c_int) function chameleon_determine_base_addresses(func) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), intent(in) :: func
    end function
    type(c_ptr) function chameleon_create_task_fortran(entry, nargs, args) bind(c)
      import :: c_ptr, c_funptr, c_int
      type(c_funptr), value :: entry
      integer(c_int), value :: nargs
      type(c_ptr), value :: args
    end function
    integer(c_int) function chameleon_add_task_fortran(task) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: task
    end function
    integer(c_int) function chameleon_set_callback_task_finish(task, func_ptr, func_param) bind(c)
      import :: c_int, c_ptr, c_funptr
      type(c_ptr), value :: task
      type(c_funptr), value :: func_ptr
      type(c_ptr), value :: func_param
    end function
    integer(c_int) function chameleon_distributed_taskwait(nowait) bind(c)
      import :: c_int
      integer(c_int), value :: nowait
    end function
    type(c_ptr) function chameleon_create_annotation_container_fortran() bind(c)
      import :: c_ptr
    end function
    integer(c_int) function chameleon_set_annotation_int_fortran(ann, value) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: ann
      integer(c_int), value :: value
    end function
    integer(c_int) function chameleon_get_annotation_int_fortran(ann) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: ann
    end function
  end interface

contains

  type(c_ptr) function chameleon_create_task(entry, nargs, args)
    type(c_funptr), value :: entry  ! by value: faces/fortran/poise_tasks.f90 says why
    integer(c_int), intent(in) :: nargs
    type(map_entry), pointer, dimension(:), intent(in) :: args
    type(map_entry), target :: copies(max(nargs, 1))  ! a contiguous copy, because args may be a strided array section
    if (nargs > 0) copies(:nargs) = args(lbound(args, 1):lbound(args, 1) + nargs - 1)
    chameleon_create_task = chameleon_create_task_fortran(entry, nargs, c_loc(copies))
  end function

end module chameleon_lib
