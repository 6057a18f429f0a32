# SPDX-License-Identifier: BSD-3-Clause
# Builds the GoogleTest programs that run without a launcher; mpi.cmake has those that run under mpirun.
if(POISE_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
add_custom_target(unit_tests)  # builds all test programs that need neither mpirun nor the command `poise`

# compile_quickly(TARGET HEADERS…) precompiles these headers in builds with sanitizers, which take twice as long to
# compile as ordinary builds. Ordinary builds do not precompile, because precompiled headers of several checkouts cannot
# share a compiler cache.
function(compile_quickly target)
  if(POISE_SANITIZE)
    target_precompile_headers(${target} PRIVATE <algorithm> <cmath> <cstdint> <functional> <limits> <map> <memory>
                              <numeric> <optional> <set> <span> <string> <string_view> <utility> <vector>
                              <fmt/format.h> ${ARGN})
    # ccache needs these options to cache files that are compiled with precompiled headers.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>
                           $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  endif()
endfunction()

# unit_tests(PROGRAM PREFIX SOURCES… [LINK LIBRARIES…]) builds PROGRAM and adds each of its tests to
# CTest as PREFIX.Suite.name. The root folder's CMakeLists.txt lists the programs in unit_tests.txt.
function(unit_tests program prefix)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  add_executable(${program} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${program} PRIVATE ${arg_LINK} GTest::gmock_main)
  compile_quickly(${program} <gmock/gmock.h> <gtest/gtest.h>)
  # Tests take longer to compile than to run. Compiling with -O1 takes a third less time than with -O3; compiling with
  # sanitizers takes twice as long.
  if(POISE_SANITIZE)
    target_compile_options(${program} PRIVATE -O0)
  else()
    target_compile_options(${program} PRIVATE -O1)
  endif()
  gtest_discover_tests(${program} TEST_PREFIX ${prefix}. DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT 1200)
  add_dependencies(unit_tests ${program})
  set_property(GLOBAL APPEND PROPERTY UNIT_TEST_PROGRAMS ${program})
endfunction()
