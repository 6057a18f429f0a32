# SPDX-License-Identifier: BSD-3-Clause
# Runs before files are installed. Records in install_folders.txt, in the build folder, which folders the installation
# will create, so that uninstalling can remove them. These are all folders in the list `folders`, and all parents of
# these folders, that do not exist yet. Folders that an earlier installation of this build created stay recorded.
get_filename_component(prefix "${CMAKE_INSTALL_PREFIX}" ABSOLUTE)  # it may be relative to the working directory
set(created "")
if(EXISTS ${record})
  file(STRINGS ${record} created)
endif()
foreach(folder IN LISTS folders)
  cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY "${prefix}" NORMALIZE)
  while(NOT folder STREQUAL "/" AND NOT EXISTS $ENV{DESTDIR}${folder})
    list(APPEND created ${folder})
    cmake_path(GET folder PARENT_PATH folder)
  endwhile()
endforeach()
list(REMOVE_DUPLICATES created)
list(JOIN created "\n" lines)
file(WRITE ${record} "${lines}\n")
