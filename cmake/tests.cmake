# SPDX-License-Identifier: BSD-3-Clause
# Builds the GoogleTest programs that run without a launcher; mpi.cmake has those that run under mpirun.
if(POISE_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
add_custom_target(unit_tests)  # builds all test programs that need neither a launcher nor the command

# unit_tests(PROGRAM PREFIX SOURCES… [LINK LIBRARIES…]) builds PROGRAM and adds each of its tests to
# CTest as PREFIX.Suite.name.
function(unit_tests program prefix)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  add_executable(${program} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${program} PRIVATE ${arg_LINK} GTest::gmock_main)
  gtest_discover_tests(${program} TEST_PREFIX ${prefix}. DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT 300)
  add_dependencies(unit_tests ${program})
endfunction()
