# SPDX-License-Identifier: BSD-3-Clause
# Finds the libraries that Poise uses. If a required library is missing, configuration stops and names its package.
# Optional libraries determine which files are built.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(simdjson REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(BROTLI REQUIRED IMPORTED_TARGET libbrotlidec libbrotlienc)

find_package(OpenMP QUIET COMPONENTS CXX)
find_path(SCOTCH_INCLUDE scotch.h PATH_SUFFIXES scotch)
find_library(SCOTCH_LIBRARY scotch)
if(SCOTCH_INCLUDE)  # Scotch 7 introduced contexts, which make its mappings repeatable.
  file(STRINGS ${SCOTCH_INCLUDE}/scotch.h SCOTCH_CONTEXTS REGEX "SCOTCH_contextThreadSpawn")
  if(NOT SCOTCH_CONTEXTS)
    message(STATUS "Scotch in ${SCOTCH_INCLUDE} is older than 7: strategy scotch is left out")
    set(SCOTCH_LIBRARY "")
  endif()
endif()
find_path(METIS_INCLUDE metis.h)
find_library(METIS_LIBRARY metis)
