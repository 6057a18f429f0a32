# SPDX-License-Identifier: BSD-3-Clause
# MPI is optional, and any implementation may be used. Without MPI, the runtimes that need it are not built.
find_package(MPI QUIET COMPONENTS C CXX)

# use_mpi(TARGET VISIBILITY) links MPI's C interface; the MPI standard has removed the C++ one.
function(use_mpi target visibility)
  target_link_libraries(${target} ${visibility} MPI::MPI_CXX)
  target_compile_definitions(${target} ${visibility} OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
endfunction()

# mpi_test(NAME NP TARGET ARGUMENT…) adds a test that runs TARGET on NP ranks. There may be more ranks than cores, so
# Open MPI is told to oversubscribe, not to bind, and to yield when idle. The variables with ALLOW let Open MPI run as
# root. With odls_base_sigkill_timeout=0 it kills the other ranks immediately when a rank exits with an error, instead
# of after two seconds. The time-outs are so long that they end only tests that hang: on a busy machine, where a waiting
# rank gets a core only every 10 ms or so, tests take up to a hundred times as long as on a quiet one.
set(MPI_TEST_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
    OMPI_MCA_odls_base_sigkill_timeout=0)
if(POISE_SANITIZE)  # leaks are checked before MPI_Finalize, see tests/support/leaks.h
  set(folder ${CMAKE_SOURCE_DIR}/tests/support/sanitizers)
  # clang 16's sanitizer guesses the layout of thread-local storage of shared libraries. If the guess is wrong, the leak
  # check may read at address 0x1060 and crash. intercept_tls_get_addr=0 turns the guess off.
  list(APPEND MPI_TEST_ENVIRONMENT ASAN_OPTIONS=intercept_tls_get_addr=0)
  list(APPEND MPI_TEST_ENVIRONMENT LSAN_OPTIONS=suppressions=${folder}/leaks.txt:leak_check_at_exit=0
       "TSAN_OPTIONS=suppressions=${folder}/races.txt history_size=5" POISE_STRESS_TASKS=1000)
endif()
add_custom_target(mpi_tests)  # builds all programs that run under mpirun
function(mpi_test name np target)
  add_dependencies(mpi_tests ${target})
  get_target_property(kind ${target} TYPE)
  set(program $<TARGET_FILE:${target}>)
  if(kind STREQUAL "UTILITY")  # a custom target, which calls a compiler other than CMake's
    set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${target})
  endif()
  add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np}
                                ${MPIEXEC_PREFLAGS} ${program} ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 900 PROCESSORS ${np} LABELS mpi
                       ENVIRONMENT "${MPI_TEST_ENVIRONMENT}")
  if(POISE_SANITIZE)  # the test fails if a sanitizer reports an error
    set_tests_properties(${name} PROPERTIES FAIL_REGULAR_EXPRESSION "Sanitizer: |runtime error: ")
  endif()
endfunction()

# mpi_script(NAME NP TARGET SCRIPT ARGUMENT…) adds a test that runs the Python program SCRIPT. SCRIPT itself launches
# TARGET on NP ranks, and inspects the result with the command poise. CTest counts the test as using one processor only,
# because most launches are short and the test often waits for a launcher to start or to end.
function(mpi_script name np target script)
  add_dependencies(mpi_tests ${target} poise_command)
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${script} ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 1200 LABELS mpi ENVIRONMENT
    "${MPI_TEST_ENVIRONMENT};LAUNCH=${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np};PROGRAM=$<TARGET_FILE:${target}>;POISE=$<TARGET_FILE:poise_command>;PYTHONDONTWRITEBYTECODE=1")
endfunction()
