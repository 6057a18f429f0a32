# SPDX-License-Identifier: BSD-3-Clause
# Builds the profile library with the address sanitizer and tests it in unmodified programs.
set(runtime libasan.so)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(runtime libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so)
endif()
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${runtime} OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE)

# The same library with a planted leak, which the test must find.
set(profile ${CMAKE_SOURCE_DIR}/runtimes/profile)
add_library(poise_profile_leaking SHARED leaking.cc $<TARGET_OBJECTS:poise_profile>)
set_target_properties(poise_profile_leaking PROPERTIES CXX_VISIBILITY_PRESET hidden)
target_link_libraries(poise_profile_leaking PRIVATE poise_profile_parts ${CMAKE_DL_LIBS})
target_link_options(poise_profile_leaking PRIVATE -static-libstdc++ -static-libgcc LINKER:--version-script=${profile}/exports.map
                    LINKER:--wrap=_ZN5poise7profile9host_nameB5cxx11Ev)

add_test(NAME profile.sanitized COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/sanitized_test.py)
set_tests_properties(profile.sanitized PROPERTIES TIMEOUT 1200 PROCESSORS 2 LABELS mpi SKIP_RETURN_CODE 77
  ENVIRONMENT "POISE_PROFILE_LIBRARY=$<TARGET_FILE:poise_profile>;LEAKING_LIBRARY=$<TARGET_FILE:poise_profile_leaking>;SANITIZER_RUNTIME=${runtime};PYTHONDONTWRITEBYTECODE=1")
add_custom_target(profile_sanitized DEPENDS poise_profile poise_reorder poise_profile_leaking)
