! SPDX-License-Identifier: BSD-3-Clause
! Lets Fortran 2008 programs decide where tasks should run. Calls libpoise (poise/poise.h); docs/library.md is the
! guide. Integers are of the default kind, sizes and ids have 64 bits. Tasks and places are numbered from 0, also in
! arrays of messages. Without the argument `error`, an error ends the program with its text. Texts may end with blanks,
! as those in character variables of fixed length do.
module poise
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  implicit none
  private
  public :: poise_machine, poise_workload, poise_metrics, poise_moves
  public :: poise_ranks, plan_distributed
  public :: machine_from, workload_of, plan, evaluate, exports, imports, poise_last_error, poise_version

  ! A machine. num_places is 0 if the machine could not be created.
  type :: poise_machine
    type(c_ptr), private :: handle = c_null_ptr
    integer :: num_places = 0
  contains
    procedure :: set_model => machine_set_model
    procedure :: free => machine_free
  end type

  type :: poise_workload
    type(c_ptr), private :: handle = c_null_ptr
    integer :: num_tasks = 0
  contains
    procedure :: set_messages => workload_set_messages
    procedure :: set_graph => workload_set_graph
    procedure :: set_pinned => workload_set_pinned
    procedure :: set_positions => workload_set_positions
    procedure :: set_background => workload_set_background
    procedure :: free => workload_free
  end type

  ! The metrics of poise/poise.h, with times in seconds.
  type, bind(c) :: poise_metrics
    real(c_double) :: iteration_s, makespan_s, makespan_bound_s, average_s, imbalance, max_comm_s
    integer(c_int64_t) :: hop_bytes, internode_bytes
    real(c_double) :: nuco_messages
    integer(c_int64_t) :: migrations, migrated_bytes
    real(c_double) :: migration_s
  end type

  ! Tasks that change their place. `from` and `to` are places.
  type :: poise_moves
    integer(int64), allocatable :: global_id(:)
    integer, allocatable :: task(:), from(:), to(:)
  end type

  type, bind(c) :: moves_c
    integer(c_int64_t) :: count
    type(c_ptr) :: global_id, task, from, to
  end type

  ! struct poise_communication: the functions by which ranks communicate when they decide together. The module poise_mpi
  ! creates it.
  type, bind(c) :: poise_ranks
    type(c_ptr) :: context = c_null_ptr
    integer(c_int32_t) :: rank = 0, num_ranks = 0
    type(c_funptr) :: exchange = c_null_funptr, reduce = c_null_funptr
  end type

  type, bind(c) :: own_tasks_c
    integer(c_int64_t) :: num_tasks = 0
    type(c_ptr) :: global_ids = c_null_ptr, load_s = c_null_ptr, bytes = c_null_ptr, pinned = c_null_ptr
    type(c_ptr) :: indptr = c_null_ptr, neighbours = c_null_ptr, neighbour_ranks = c_null_ptr
    type(c_ptr) :: counts = c_null_ptr, message_bytes = c_null_ptr
    real(c_double) :: background_s = 0
  end type

  interface
    integer(c_int) function plan_distributed_c(ranks, machine, own, strategy, seed, rank_of_task, exports, imports) &
        bind(c, name="poise_plan_distributed")
      import :: c_int, c_int64_t, c_int32_t, c_char, c_ptr, poise_ranks, own_tasks_c
      type(poise_ranks), intent(in) :: ranks
      type(c_ptr), value :: machine
      type(own_tasks_c), intent(in) :: own
      character(kind=c_char), intent(in) :: strategy(*)
      integer(c_int64_t), value :: seed
      integer(c_int32_t), intent(inout) :: rank_of_task(*)
      type(c_ptr), intent(inout) :: exports, imports
    end function
    type(c_ptr) function last_error_c() bind(c, name="poise_last_error")
      import :: c_ptr
    end function
    type(c_ptr) function version_c() bind(c, name="poise_version")
      import :: c_ptr
    end function
    integer(c_size_t) function strlen(text) bind(c)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
    end function
    integer(c_int) function machine_create_c(text, machine) bind(c, name="poise_machine_create")
      import :: c_int, c_char, c_ptr
      character(kind=c_char), intent(in) :: text(*)
      type(c_ptr), intent(inout) :: machine
    end function
    subroutine machine_destroy_c(machine) bind(c, name="poise_machine_destroy")
      import :: c_ptr
      type(c_ptr), value :: machine
    end subroutine
    integer(c_int64_t) function machine_num_places_c(machine) bind(c, name="poise_machine_num_places")
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: machine
    end function
    integer(c_int) function machine_set_model_c(machine, formula) bind(c, name="poise_machine_set_model")
      import :: c_int, c_char, c_ptr
      type(c_ptr), value :: machine
      character(kind=c_char), intent(in) :: formula(*)
    end function
    integer(c_int) function workload_create_c(num_tasks, load_s, workload) bind(c, name="poise_workload_create")
      import :: c_int, c_int64_t, c_double, c_ptr
      integer(c_int64_t), value :: num_tasks
      real(c_double), intent(in) :: load_s(*)
      type(c_ptr), intent(inout) :: workload
    end function
    subroutine workload_destroy_c(workload) bind(c, name="poise_workload_destroy")
      import :: c_ptr
      type(c_ptr), value :: workload
    end subroutine
    integer(c_int) function set_sizes_c(workload, bytes) bind(c, name="poise_workload_set_sizes")
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: workload
      integer(c_int64_t), intent(in) :: bytes(*)
    end function
    integer(c_int) function set_pinned_c(workload, pinned) bind(c, name="poise_workload_set_pinned")
      import :: c_int, c_int8_t, c_ptr
      type(c_ptr), value :: workload
      integer(c_int8_t), intent(in) :: pinned(*)
    end function
    integer(c_int) function set_messages_c(workload, num, from, to, counts, bytes) &
        bind(c, name="poise_workload_set_messages")
      import :: c_int, c_int64_t, c_int32_t, c_ptr
      type(c_ptr), value :: workload
      integer(c_int64_t), value :: num
      integer(c_int32_t), intent(in) :: from(*), to(*)
      type(c_ptr), value :: counts, bytes
    end function
    integer(c_int) function set_csr_c(workload, indptr, indices, counts, bytes) &
        bind(c, name="poise_workload_set_messages_csr")
      import :: c_int, c_int64_t, c_int32_t, c_ptr
      type(c_ptr), value :: workload
      integer(c_int64_t), intent(in) :: indptr(*)
      integer(c_int32_t), intent(in) :: indices(*)
      type(c_ptr), value :: counts, bytes
    end function
    integer(c_int) function set_positions_c(workload, dimensions, position) &
        bind(c, name="poise_workload_set_positions")
      import :: c_int, c_double, c_ptr
      type(c_ptr), value :: workload
      integer(c_int), value :: dimensions
      real(c_double), intent(in) :: position(*)
    end function
    integer(c_int) function set_background_c(workload, num_places, seconds) &
        bind(c, name="poise_workload_set_background")
      import :: c_int, c_int64_t, c_double, c_ptr
      type(c_ptr), value :: workload
      integer(c_int64_t), value :: num_places
      real(c_double), intent(in) :: seconds(*)
    end function
    integer(c_int) function plan_c(machine, workload, current, strategy, seed, places) bind(c, name="poise_plan")
      import :: c_int, c_int64_t, c_int32_t, c_char, c_ptr
      type(c_ptr), value :: machine, workload
      integer(c_int32_t), intent(in) :: current(*)
      character(kind=c_char), intent(in) :: strategy(*)
      integer(c_int64_t), value :: seed
      integer(c_int32_t), intent(inout) :: places(*)
    end function
    integer(c_int) function evaluate_c(machine, workload, before, after, metrics) bind(c, name="poise_evaluate")
      import :: c_int, c_int32_t, c_ptr, poise_metrics
      type(c_ptr), value :: machine, workload
      integer(c_int32_t), intent(in) :: before(*), after(*)
      type(poise_metrics), intent(inout) :: metrics
    end function
    integer(c_int) function exports_c(num_tasks, ids, before, after, place, moves) bind(c, name="poise_exports")
      import :: c_int, c_int64_t, c_int32_t, c_ptr
      integer(c_int64_t), value :: num_tasks, place
      type(c_ptr), value :: ids
      integer(c_int32_t), intent(in) :: before(*), after(*)
      type(c_ptr), intent(inout) :: moves
    end function
    integer(c_int) function imports_c(num_tasks, ids, before, after, place, moves) bind(c, name="poise_imports")
      import :: c_int, c_int64_t, c_int32_t, c_ptr
      integer(c_int64_t), value :: num_tasks, place
      type(c_ptr), value :: ids
      integer(c_int32_t), intent(in) :: before(*), after(*)
      type(c_ptr), intent(inout) :: moves
    end function
    subroutine moves_destroy_c(moves) bind(c, name="poise_moves_destroy")
      import :: c_ptr
      type(c_ptr), value :: moves
    end subroutine
  end interface

  integer, parameter :: kWrongSize = -2  ! POISE_BAD_INPUT, found here
  ! The text of an error if this module finds that an array has a wrong size. C cannot detect a wrong size, because it
  ! gets only the addresses of arrays.
  character(:), allocatable :: own_error
  !$omp threadprivate(own_error)

  ! Checks the size of an array. The expected size has 32 bits or, for arrays of messages, 64 bits.
  interface wrong_size
    module procedure wrong_size_32, wrong_size_64
  end interface

contains

  ! Creates a machine from "live" (this host), a name, a file or a description (docs/machines.md).
  function machine_from(description, error) result(machine)
    character(*), intent(in) :: description
    integer, intent(out), optional :: error  ! 0, or 2 for bad input; then poise_last_error() says more
    type(poise_machine) :: machine
    call finish(machine_create_c(trim(description) // c_null_char, machine%handle), error)
    if (c_associated(machine%handle)) machine%num_places = int(machine_num_places_c(machine%handle))
  end function

  ! Selects the cost formula of the machine: "physical" (the default) or "nuco".
  subroutine machine_set_model(self, formula, error)
    class(poise_machine), intent(inout) :: self
    character(*), intent(in) :: formula
    integer, intent(out), optional :: error
    call finish(machine_set_model_c(self%handle, trim(formula) // c_null_char), error)
  end subroutine

  subroutine machine_free(self)
    class(poise_machine), intent(inout) :: self
    call machine_destroy_c(self%handle)
    self%handle = c_null_ptr
    self%num_places = 0
  end subroutine

  ! Creates a workload. `load_s` has the load of each task in seconds, and `sizes` the bytes to send if the task
  ! migrates.
  function workload_of(load_s, sizes, error) result(workload)
    real(real64), intent(in) :: load_s(:)
    integer(int64), intent(in), optional :: sizes(:)
    integer, intent(out), optional :: error
    type(poise_workload) :: workload
    integer :: status
    status = 0
    if (present(sizes)) status = wrong_size(size(sizes), size(load_s), "sizes")
    if (status == 0) status = workload_create_c(size(load_s, kind=c_int64_t), load_s, workload%handle)
    if (status == 0) then
      workload%num_tasks = size(load_s)
      if (present(sizes)) status = set_sizes_c(workload%handle, sizes)
    end if
    call finish(status, error)
  end function

  ! Sets the messages as a list of senders and receivers, which are indices of tasks, counted from 0.
  subroutine workload_set_messages(self, from, to, bytes, counts, error)
    class(poise_workload), intent(inout) :: self
    integer, intent(in) :: from(:), to(:)
    integer(int64), intent(in), optional, contiguous, target :: bytes(:), counts(:)
    integer, intent(out), optional :: error
    integer :: status
    status = wrong_size(size(to, kind=int64), size(from, kind=int64), "to")
    if (present(bytes)) status = min(status, wrong_size(size(bytes, kind=int64), size(from, kind=int64), "bytes"))
    if (present(counts)) status = min(status, wrong_size(size(counts, kind=int64), size(from, kind=int64), "counts"))
    if (status == 0) status = set_messages_c(self%handle, size(from, kind=c_int64_t), from, to, &
                                              address(counts), address(bytes))
    call finish(status, error)
  end subroutine

  ! Sets the messages as a graph in CSR form. All indices start at 0, as in METIS.
  subroutine workload_set_graph(self, indptr, indices, bytes, counts, error)
    class(poise_workload), intent(inout) :: self
    integer(int64), intent(in) :: indptr(:)
    integer, intent(in) :: indices(:)
    integer(int64), intent(in), optional, contiguous, target :: bytes(:), counts(:)
    integer, intent(out), optional :: error
    integer :: status
    status = wrong_per_task(size(indptr), self, "indptr", 1)
    if (status == 0) status = wrong_size(size(indices, kind=int64), indptr(size(indptr)), "indices")
    if (present(bytes)) status = min(status, wrong_size(size(bytes, kind=int64), size(indices, kind=int64), "bytes"))
    if (present(counts)) status = min(status, wrong_size(size(counts, kind=int64), size(indices, kind=int64), "counts"))
    if (status == 0) status = set_csr_c(self%handle, indptr, indices, address(counts), address(bytes))
    call finish(status, error)
  end subroutine

  subroutine workload_set_pinned(self, pinned, error)
    class(poise_workload), intent(inout) :: self
    logical, intent(in) :: pinned(:)
    integer, intent(out), optional :: error
    integer :: status
    status = wrong_per_task(size(pinned), self, "pinned")
    if (status == 0) status = set_pinned_c(self%handle, merge(1_c_int8_t, 0_c_int8_t, pinned))
    call finish(status, error)
  end subroutine

  ! Sets the positions of tasks. position(:, task) has 1 to 3 coordinates.
  subroutine workload_set_positions(self, position, error)
    class(poise_workload), intent(inout) :: self
    real(real64), intent(in) :: position(:, :)
    integer, intent(out), optional :: error
    integer :: status
    status = wrong_per_task(size(position, 2), self, "position")
    if (status == 0) status = set_positions_c(self%handle, size(position, 1), position)
    call finish(status, error)
  end subroutine

  ! Sets the background load: seconds per place that belong to no task.
  subroutine workload_set_background(self, seconds, error)
    class(poise_workload), intent(inout) :: self
    real(real64), intent(in) :: seconds(:)
    integer, intent(out), optional :: error
    call finish(set_background_c(self%handle, size(seconds, kind=c_int64_t), seconds), error)
  end subroutine

  subroutine workload_free(self)
    class(poise_workload), intent(inout) :: self
    call workload_destroy_c(self%handle)
    self%handle = c_null_ptr
    self%num_tasks = 0
  end subroutine

  ! Computes the place of each task with a strategy ("poise" if none is named). `current` is where tasks are now.
  subroutine plan(machine, workload, current, places, strategy, seed, error)
    type(poise_machine), intent(in) :: machine
    type(poise_workload), intent(in) :: workload
    integer, intent(in) :: current(:)
    integer, intent(inout) :: places(:)
    character(*), intent(in), optional :: strategy
    integer(int64), intent(in), optional :: seed
    integer, intent(out), optional :: error
    character(:), allocatable :: name
    integer(int64) :: number
    integer :: status
    name = "poise"
    if (present(strategy)) name = trim(strategy)
    number = 0
    if (present(seed)) number = seed
    status = min(wrong_per_task(size(current), workload, "current"), wrong_per_task(size(places), workload, "places"))
    if (status == 0) status = plan_c(machine%handle, workload%handle, current, name // c_null_char, number, places)
    call finish(status, error)
  end subroutine

  ! Decides where the tasks of all ranks should run. Each rank passes its own tasks and the messages that they send,
  ! with the global ids of the receivers; offsets in indptr start at 0, as in METIS. Collective: if the input of one rank
  ! is wrong, all ranks get an error. A task that arrives has no index on this rank yet, so imports%task is 0.
  subroutine plan_distributed(ranks, machine, global_ids, load_s, indptr, neighbours, bytes, sizes, neighbour_ranks, &
                              strategy, seed, rank_of_task, exports, imports, error)
    type(poise_ranks), intent(in) :: ranks
    type(poise_machine), intent(in) :: machine
    integer(int64), intent(in), contiguous, target :: global_ids(:)
    real(real64), intent(in), contiguous, target :: load_s(:)
    integer(int64), intent(in), optional, contiguous, target :: indptr(:), neighbours(:), bytes(:), sizes(:)
    integer, intent(in), optional, contiguous, target :: neighbour_ranks(:)
    character(*), intent(in), optional :: strategy
    integer(int64), intent(in), optional :: seed
    integer, intent(inout), optional :: rank_of_task(:)
    type(poise_moves), intent(out), optional :: exports, imports
    integer, intent(out), optional :: error
    integer, allocatable :: to(:)
    character(:), allocatable :: name
    type(own_tasks_c) :: own
    type(poise_moves) :: moves
    type(c_ptr) :: leaving, coming
    integer(int64) :: number
    integer :: status, wrong
    name = "poise"
    if (present(strategy)) name = trim(strategy)
    number = 0
    if (present(seed)) number = seed
    wrong = own_sizes(size(global_ids), size(load_s), indptr, neighbours, bytes, sizes, neighbour_ranks)
    if (wrong == 0 .and. present(rank_of_task)) &
      wrong = wrong_size(size(rank_of_task), size(global_ids), "rank_of_task")
    own%num_tasks = size(global_ids)
    own%global_ids = address(global_ids)
    if (size(load_s) > 0) own%load_s = c_loc(load_s)
    own%indptr = address(indptr)
    own%neighbours = address(neighbours)
    own%message_bytes = address(bytes)
    own%bytes = address(sizes)
    if (present(neighbour_ranks)) then
      if (size(neighbour_ranks, kind=int64) > 0) own%neighbour_ranks = c_loc(neighbour_ranks)
    end if
    if (wrong /= 0) own = own_tasks_c(num_tasks=1)  ! invalid (a task without arrays), so all ranks get an error
    allocate (to(size(global_ids)))
    leaving = c_null_ptr
    coming = c_null_ptr
    status = plan_distributed_c(ranks, machine%handle, own, name // c_null_char, number, to, leaving, coming)
    if (wrong /= 0) status = wrong
    call finish(status, error)
    if (status /= 0) return
    if (present(rank_of_task)) rank_of_task = to
    moves = moves_in(leaving)
    if (present(exports)) exports = moves
    moves = moves_in(coming)
    if (present(imports)) imports = moves
  end subroutine

  ! Returns kWrongSize if the arrays that this rank passes have sizes that do not match each other.
  integer function own_sizes(num_tasks, num_loads, indptr, neighbours, bytes, sizes, neighbour_ranks) result(status)
    integer, intent(in) :: num_tasks, num_loads
    integer(int64), intent(in), optional :: indptr(:), neighbours(:), bytes(:), sizes(:)
    integer, intent(in), optional :: neighbour_ranks(:)
    integer(int64) :: num_messages
    num_messages = 0
    if (present(neighbours)) num_messages = size(neighbours, kind=int64)
    status = wrong_size(num_loads, num_tasks, "load_s")
    if (present(sizes)) status = min(status, wrong_size(size(sizes), num_tasks, "sizes"))
    if (present(indptr)) then
      status = min(status, wrong_size(size(indptr), num_tasks + 1, "indptr"))
      if (status == 0) status = wrong_size(num_messages, indptr(size(indptr)), "neighbours")
    end if
    if (present(bytes)) status = min(status, wrong_size(size(bytes, kind=int64), num_messages, "bytes"))
    if (present(neighbour_ranks)) &
      status = min(status, wrong_size(size(neighbour_ranks, kind=int64), num_messages, "neighbour_ranks"))
  end function

  ! Computes the cost of the placement `after`, including the migrations from the placement `before`.
  function evaluate(machine, workload, before, after, error) result(metrics)
    type(poise_machine), intent(in) :: machine
    type(poise_workload), intent(in) :: workload
    integer, intent(in) :: before(:), after(:)
    integer, intent(out), optional :: error
    type(poise_metrics) :: metrics
    integer :: status
    status = min(wrong_per_task(size(before), workload, "before"), wrong_per_task(size(after), workload, "after"))
    metrics = poise_metrics(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    if (status == 0) status = evaluate_c(machine%handle, workload%handle, before, after, metrics)
    call finish(status, error)
  end function

  ! exports() returns the tasks that leave a place, and imports() those that come to it. Without a place, they return
  ! all tasks that move.
  function exports(before, after, place, global_ids, error) result(moves)
    integer, intent(in) :: before(:), after(:)
    integer, intent(in), optional :: place
    integer(int64), intent(in), optional, contiguous, target :: global_ids(:)
    integer, intent(out), optional :: error
    type(poise_moves) :: moves
    type(c_ptr) :: list
    integer :: status
    status = check_lists(before, after, global_ids)
    list = c_null_ptr
    if (status == 0) status = exports_c(size(before, kind=c_int64_t), address(global_ids), before, after, &
                                        number_of(place), list)
    call finish(status, error)
    moves = moves_in(list)
  end function

  function imports(before, after, place, global_ids, error) result(moves)
    integer, intent(in) :: before(:), after(:)
    integer, intent(in), optional :: place
    integer(int64), intent(in), optional, contiguous, target :: global_ids(:)
    integer, intent(out), optional :: error
    type(poise_moves) :: moves
    type(c_ptr) :: list
    integer :: status
    status = check_lists(before, after, global_ids)
    list = c_null_ptr
    if (status == 0) status = imports_c(size(before, kind=c_int64_t), address(global_ids), before, after, &
                                        number_of(place), list)
    call finish(status, error)
    moves = moves_in(list)
  end function

  ! Returns the text of the last error on this thread.
  function poise_last_error() result(text)
    character(:), allocatable :: text
    if (allocated(own_error)) then
      text = own_error
    else
      text = text_at(last_error_c())
    end if
  end function

  function poise_version() result(text)
    character(:), allocatable :: text
    text = text_at(version_c())
  end function

  ! Stores the status in `error` if the caller passed it. Otherwise a status other than 0 ends the program.
  subroutine finish(status, error)
    integer, intent(in) :: status
    integer, intent(out), optional :: error
    if (status /= kWrongSize .and. allocated(own_error)) deallocate (own_error)
    if (present(error)) then
      error = abs(status)
    else if (status /= 0) then
      write (error_unit, "(2a)") "poise: ", poise_last_error()
      error stop 2
    end if
  end subroutine

  ! Returns kWrongSize and stores a text if an array has a wrong size, otherwise 0.
  integer function wrong_size_64(found, wanted, name) result(status)
    integer(int64), intent(in) :: found, wanted
    character(*), intent(in) :: name
    character(20) :: numbers(2)
    status = 0
    if (found == wanted) return
    write (numbers, "(i0)") found, wanted
    own_error = name // " has " // trim(numbers(1)) // " entries; it needs " // trim(numbers(2))
    status = kWrongSize
  end function

  ! Checks an array that must have an entry for each task, and `more` further entries. If the workload was freed or
  ! never created, any size is accepted here, because the library then reports that the workload is null.
  integer function wrong_per_task(found, workload, name, more) result(status)
    integer, intent(in) :: found
    class(poise_workload), intent(in) :: workload
    character(*), intent(in) :: name
    integer, intent(in), optional :: more
    integer :: wanted
    wanted = workload%num_tasks
    if (present(more)) wanted = wanted + more
    if (.not. c_associated(workload%handle)) wanted = found
    status = wrong_size(found, wanted, name)
  end function

  integer function wrong_size_32(found, wanted, name) result(status)
    integer, intent(in) :: found, wanted
    character(*), intent(in) :: name
    status = wrong_size(int(found, int64), int(wanted, int64), name)
  end function

  integer function check_lists(before, after, global_ids) result(status)
    integer, intent(in) :: before(:), after(:)
    integer(int64), intent(in), optional :: global_ids(:)
    status = wrong_size(size(after), size(before), "after")
    if (present(global_ids)) status = min(status, wrong_size(size(global_ids), size(before), "global_ids"))
  end function

  ! Returns the address of an optional array for C, or a null address if the array is absent.
  type(c_ptr) function address(array)
    integer(int64), intent(in), optional, contiguous, target :: array(:)
    address = c_null_ptr
    if (.not. present(array)) return
    if (size(array, kind=int64) > 0) address = c_loc(array)
  end function

  integer(c_int64_t) function number_of(place)
    integer, intent(in), optional :: place
    number_of = -1
    if (present(place)) number_of = place
  end function

  ! Returns a copy of a list that C allocated, and frees the original.
  function moves_in(list) result(moves)
    type(c_ptr), intent(in) :: list
    type(poise_moves) :: moves
    type(moves_c), pointer :: view
    integer(c_int64_t), pointer :: ids(:)
    integer(c_int32_t), pointer :: task(:), from(:), to(:)
    if (.not. c_associated(list)) return
    call c_f_pointer(list, view)
    allocate (moves%global_id(view%count), moves%task(view%count), moves%from(view%count), moves%to(view%count))
    if (view%count > 0) then
      call c_f_pointer(view%global_id, ids, [view%count])
      call c_f_pointer(view%from, from, [view%count])
      call c_f_pointer(view%to, to, [view%count])
      moves%global_id = ids
      moves%task = 0
      if (c_associated(view%task)) then
        call c_f_pointer(view%task, task, [view%count])
        moves%task = task
      end if
      moves%from = from
      moves%to = to
    end if
    call moves_destroy_c(list)
  end function

  function text_at(location) result(text)
    type(c_ptr), intent(in) :: location
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(location, letters, [strlen(location)])
    allocate (character(size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function

end module poise
