# SPDX-License-Identifier: BSD-3-Clause
# pkg-config files: poise (C), poise-cxx (C++), and one for each runtime. Paths are relative to the
# file, so an installation may be moved. Compile and link the runtimes with mpicxx, mpicc or mpifort.
file(RELATIVE_PATH POISE_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)

# pkg_config(NAME DESCRIPTION LIBS [CFLAGS …] [REQUIRES …]) writes and installs NAME.pc.
function(pkg_config POISE_PC_NAME POISE_PC_DESCRIPTION POISE_PC_LIBS)
  cmake_parse_arguments(arg "" "CFLAGS;REQUIRES" "" ${ARGN})
  set(POISE_PC_REQUIRES ${arg_REQUIRES})
  set(POISE_PC_CFLAGS ${arg_CFLAGS})
  set(file ${CMAKE_BINARY_DIR}/pkgconfig/${POISE_PC_NAME}.pc)
  configure_file(${CMAKE_SOURCE_DIR}/packaging/poise.pc.in ${file} @ONLY)
  install(FILES ${file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# A static library does not name the libraries that it needs, so `libs` lists libpoise_cxx and the libraries that it
# needs. The headers of the runtimes are installed under include/poise, so CFLAGS have this include path.
set(libs "-lpoise_cxx")
foreach(library SCOTCH METIS)
  if(${library}_INCLUDE AND ${library}_LIBRARY)
    string(APPEND libs " ${${library}_LIBRARY}")
  endif()
endforeach()
pkg_config(poise "Decides which task runs where: the C interface" -lpoise)
pkg_config(poise-cxx "Decides which task runs where: C++20, static" "${libs} -pthread" CFLAGS " -I\${includedir}/poise"
           REQUIRES "fmt hwloc libbrotlidec libbrotlienc simdjson")
if(TARGET poise_tasks)
  pkg_config(poise-tasks "Tasks lent between MPI ranks: C++20, static" -lpoise_tasks REQUIRES poise-cxx)
  pkg_config(poise-tasks-c "Tasks lent between MPI ranks, from C and Fortran: static" "-lpoise_tasks_c -lpoise_tasks ${libs} -lstdc++ -lm -pthread"
             CFLAGS " -I\${includedir}/poise" REQUIRES "fmt hwloc libbrotlidec libbrotlienc simdjson")
endif()
if(TARGET poise_objects)
  set(libs "-lpoise_objects -lpoise_balance -lpoise_tasks")
  if(OpenMP_CXX_FOUND)
    string(APPEND libs " ${OpenMP_CXX_FLAGS}")
  endif()
  pkg_config(poise-objects "Objects that migrate between MPI ranks: C++20, static" "${libs}" REQUIRES poise-cxx)
endif()
