# SPDX-License-Identifier: BSD-3-Clause
# Lists what `ninja install` installs: the command with its manual pages and completion, the libraries with headers for
# find_package(poise) and pkg-config, and the machine descriptions. `ninja installables` builds only the targets that
# are installed; `ninja uninstall` removes the files of the last installation. The components `program`,
# `runtime` (the shared library) and `development` become packages.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/poise)

set(folders ${CMAKE_INSTALL_BINDIR} ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${package} ${CMAKE_INSTALL_INCLUDEDIR}
    ${CMAKE_INSTALL_DATADIR}/bash-completion/completions ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
    ${CMAKE_INSTALL_MANDIR}/man1 ${CMAKE_INSTALL_DOCDIR})
install(CODE "if(NOT CMAKE_INSTALL_COMPONENT)
  set(folders ${folders})
  set(record ${CMAKE_BINARY_DIR}/install_folders.txt)
  include(${CMAKE_SOURCE_DIR}/cmake/new_folders.cmake)
endif()" ALL_COMPONENTS)
install(TARGETS poise_command COMPONENT program)
if(TARGET poise_pingpong)
  install(TARGETS poise_pingpong COMPONENT program)
endif()
install(TARGETS poise_profile poise_reorder poise_juggle_waits
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/poise COMPONENT program)
# poise::c is the shared library, which needs no other library. The headers of the static C++ libraries are installed
# under include/poise. That folder is an include path of these libraries, because their headers include each other as
# "runtimes/…".
set(runtimes)
foreach(library poise_c poise poise_archive poise_balance poise_objects poise_tasks poise_tasks_c)
  if(NOT TARGET ${library})
    continue()
  endif()
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  string(REGEX REPLACE "^poise_" "" name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
  if(library STREQUAL "poise_c")
    install(TARGETS poise_c EXPORT poise-c LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
            COMPONENT runtime NAMELINK_COMPONENT development)
    continue()
  endif()
  target_include_directories(${library} INTERFACE
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/poise>)
  if(library STREQUAL "poise")
    install(TARGETS poise EXPORT poise-cxx)
  else()
    install(TARGETS ${library} EXPORT poise-runtimes)
    list(APPEND runtimes ${name})
  endif()
endforeach()
foreach(set c cxx runtimes)
  if(set STREQUAL "runtimes" AND NOT runtimes)
    continue()
  endif()
  install(EXPORT poise-${set} NAMESPACE poise:: DESTINATION ${package} FILE poise-${set}-targets.cmake)
endforeach()
if(TARGET chameleon)
  list(APPEND runtimes chameleon)  # with poise::openmp_target
endif()
set(POISE_RUNTIMES ${runtimes})
set(POISE_FORTRAN ${CMAKE_INSTALL_DATADIR}/poise/fortran)
configure_package_config_file(packaging/poise-config.cmake.in ${CMAKE_BINARY_DIR}/poise-config.cmake
                              INSTALL_DESTINATION ${package} PATH_VARS POISE_FORTRAN)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/poise-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/poise-config.cmake ${CMAKE_BINARY_DIR}/poise-config-version.cmake
        DESTINATION ${package})
include(cmake/pkg_config.cmake)
install(DIRECTORY poise DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*_testing.h" EXCLUDE)
install(FILES faces/library/poise_mpi.h faces/partitioners/poise_graph.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/poise)
install(DIRECTORY runtimes DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/poise
        FILES_MATCHING PATTERN "*.h" PATTERN "*_testing.h" EXCLUDE PATTERN preloaded EXCLUDE)
install(FILES faces/fortran/poise.f90 faces/fortran/poise_mpi.f90 faces/fortran/poise_mpi.c
        DESTINATION ${CMAKE_INSTALL_DATADIR}/poise/fortran)
install(FILES faces/partitioners/poise_parmetis.c faces/partitioners/poise_zoltan.c
        DESTINATION ${CMAKE_INSTALL_DATADIR}/poise/partitioners)

# The Python wheel that `pip install .` builds (pyproject.toml) also contains the library and the machine files.
if(SKBUILD)
  install(FILES $<TARGET_FILE:poise_c> DESTINATION poise RENAME libpoise.so.0 COMPONENT python)
  install(DIRECTORY machines DESTINATION poise COMPONENT python)
endif()

# The balancers for Charm++ are installed as source files, because users must compile them for their own Charm++.
if(TARGET poise_charm)
  install(TARGETS poise_charm)
  install(DIRECTORY runtimes/charm/module/ DESTINATION ${CMAKE_INSTALL_DATADIR}/poise/charm
          USE_SOURCE_PERMISSIONS PATTERN "*.h" EXCLUDE)
endif()

# Installs the task interfaces for C and Fortran, and two libraries: one replaces CHAMELEON's library, the other
# libomptarget.
if(TARGET poise_tasks_c)
  install(FILES faces/c/poise_tasks.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/poise RENAME tasks.h)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/forward/poise_tasks.h CONTENT
       "// The old path of <poise/tasks.h>.\n#include <poise/tasks.h>\n")
  install(FILES ${CMAKE_BINARY_DIR}/forward/poise_tasks.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/poise/faces/c)
  install(FILES faces/fortran/poise_tasks.f90 faces/chameleon/chameleon_lib.f90
          DESTINATION ${CMAKE_INSTALL_DATADIR}/poise/fortran)
endif()
if(TARGET chameleon)
  target_include_directories(chameleon INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS chameleon EXPORT poise-runtimes)
  install(DIRECTORY faces/chameleon/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
if(TARGET omptarget)
  set(folder ${CMAKE_INSTALL_LIBDIR}/poise/openmp_target)
  set_target_properties(omptarget PROPERTIES INSTALL_RPATH $ORIGIN/../.. EXPORT_NAME openmp_target)
  install(TARGETS omptarget EXPORT poise-runtimes DESTINATION ${folder})
  install(DIRECTORY ${CMAKE_BINARY_DIR}/lib/openmp_target/ DESTINATION ${folder}
          FILES_MATCHING PATTERN libomptarget.so.19.1)
endif()

install(DIRECTORY machines DESTINATION ${CMAKE_INSTALL_DATADIR}/poise COMPONENT program)
install(FILES packaging/completion/poise.bash RENAME poise
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES packaging/completion/poise.zsh RENAME _poise
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
install(DIRECTORY ${CMAKE_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
        COMPONENT program OPTIONAL)
install(FILES README.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT program)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licences)
install(DIRECTORY LICENSES DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licences)

add_custom_target(installables)
foreach(target poise_command poise_profile poise_reorder poise_juggle_waits poise_pingpong poise_c poise poise_archive poise_balance poise_objects poise_tasks
        poise_tasks_c poise_charm chameleon omptarget man)
  if(TARGET ${target})
    add_dependencies(installables ${target})
  endif()
endforeach()
include(cmake/packages.cmake)
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${CMAKE_SOURCE_DIR}/cmake/uninstall.cmake
                  WORKING_DIRECTORY ${CMAKE_BINARY_DIR} VERBATIM)
