# Tests that are programs of GoogleTest; those of mpi.cmake want a launcher.
if(POISE_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
add_custom_target(unit_tests)  # all programs of tests that want neither a launcher nor the command

# The tests of a program, one by one: unit_tests(PROGRAM PREFIX SOURCES… [LINK LIBRARIES…]).
function(unit_tests program prefix)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  add_executable(${program} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${program} PRIVATE ${arg_LINK} GTest::gmock_main)
  gtest_discover_tests(${program} TEST_PREFIX ${prefix}. DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT 300)
  add_dependencies(unit_tests ${program})
endfunction()
