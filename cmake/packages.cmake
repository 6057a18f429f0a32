# SPDX-License-Identifier: BSD-3-Clause
# Debian packages: `ninja packages` writes poise, libpoise0 and libpoise-dev to the folder `packages` in the build
# folder. The packages depend on the versions of the libraries that the build found, so build them on the distribution
# on which they will be installed.
set(CPACK_GENERATOR DEB)
set(CPACK_OUTPUT_FILE_PREFIX ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGE_CONTACT "The Poise authors <poise@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)

# Each of these components becomes a package; the variables name_of_… and text_of_… have the package's name and
# description.
set(packages program runtime development)
set(name_of_program poise)
set(text_of_program "Compares and simulates strategies of load balancing, profiles MPI programs, balances threads.")
set(name_of_runtime libpoise0)
set(text_of_runtime "The shared library of Poise's C interface.")
set(name_of_development libpoise-dev)
set(text_of_development "Headers, static libraries of the runtimes on MPI, files for CMake and pkg-config.")
set(CPACK_COMPONENTS_ALL licences)
foreach(package ${packages})
  string(TOUPPER ${package} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name_of_${package}})
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name_of_${package}} RENAME copyright
          COMPONENT copyright_${package} EXCLUDE_FROM_ALL)
  list(APPEND CPACK_COMPONENTS_ALL ${package} copyright_${package})
endforeach()
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "openmpi-bin | mpich")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS poise)  # libpoise0 reads machine files, which are in the package poise
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libpoise0 (= ${PROJECT_VERSION}), libhwloc-dev, libfmt-dev, libsimdjson-dev, libbrotli-dev, nlohmann-json3-dev")
include(CPack)
foreach(package ${packages})
  cpack_add_component_group(${package} DESCRIPTION "${text_of_${package}}")
  foreach(component ${package} copyright_${package})
    cpack_add_component(${component} GROUP ${package})
  endforeach()
endforeach()
cpack_add_component(licences GROUP development)
add_custom_target(packages COMMAND ${CMAKE_CPACK_COMMAND} -G DEB WORKING_DIRECTORY ${CMAKE_BINARY_DIR} VERBATIM)
add_dependencies(packages installables)
