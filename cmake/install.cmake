# What `ninja install` installs: the command with its manual pages and completion, the libraries
# with headers for find_package(poise), and the machine descriptions. `ninja installables` builds
# what is installed and nothing else; `ninja uninstall` removes the files of the last installation.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/poise)

install(TARGETS poise_command)
if(TARGET poise_pingpong)
  install(TARGETS poise_pingpong)
endif()
install(TARGETS poise_profile LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/poise)
foreach(library poise poise_archive poise_balance poise_objects poise_tasks poise_tasks_c)
  if(TARGET ${library})
    target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    string(REGEX REPLACE "^poise_" "" name ${library})
    set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
    install(TARGETS ${library} EXPORT poise)
  endif()
endforeach()
install(EXPORT poise NAMESPACE poise:: DESTINATION ${package} FILE poise-targets.cmake)
configure_package_config_file(packaging/poise-config.cmake.in ${CMAKE_BINARY_DIR}/poise-config.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/poise-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/poise-config.cmake ${CMAKE_BINARY_DIR}/poise-config-version.cmake
        DESTINATION ${package})
install(DIRECTORY poise runtimes DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*_testing.h" EXCLUDE)

# The balancers for Charm++ are installed as source: users build the module for their Charm++.
if(TARGET poise_charm)
  install(TARGETS poise_charm)
  install(DIRECTORY runtimes/charm/module/ DESTINATION ${CMAKE_INSTALL_DATADIR}/poise/charm
          USE_SOURCE_PERMISSIONS PATTERN "*.h" EXCLUDE)
endif()

# Tasks from C and Fortran, and the libraries that replace CHAMELEON's and libomptarget.
if(TARGET poise_tasks_c)
  install(FILES faces/c/poise_tasks.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/faces/c)
  install(FILES faces/fortran/poise_tasks.f90 faces/chameleon/chameleon_lib.f90
          DESTINATION ${CMAKE_INSTALL_DATADIR}/poise/fortran)
endif()
if(TARGET chameleon)
  install(TARGETS chameleon)
  install(DIRECTORY faces/chameleon/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
if(TARGET omptarget)
  set(folder ${CMAKE_INSTALL_LIBDIR}/poise/openmp_target)
  set_target_properties(omptarget PROPERTIES INSTALL_RPATH $ORIGIN/../..)
  install(TARGETS omptarget DESTINATION ${folder})
  install(DIRECTORY ${CMAKE_BINARY_DIR}/lib/openmp_target/ DESTINATION ${folder}
          FILES_MATCHING PATTERN libomptarget.so.19.1)
endif()

install(DIRECTORY machines DESTINATION ${CMAKE_INSTALL_DATADIR}/poise)
install(FILES packaging/completion/poise.bash RENAME poise
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(DIRECTORY ${CMAKE_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
install(FILES README.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licences)
install(DIRECTORY LICENSES DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licences)

add_custom_target(installables)
foreach(target poise_command poise_profile poise_pingpong poise poise_archive poise_balance poise_objects poise_tasks
        poise_tasks_c poise_charm chameleon omptarget man)
  if(TARGET ${target})
    add_dependencies(installables ${target})
  endif()
endforeach()
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${CMAKE_SOURCE_DIR}/cmake/uninstall.cmake
                  WORKING_DIRECTORY ${CMAKE_BINARY_DIR} VERBATIM)
