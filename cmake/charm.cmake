# SPDX-License-Identifier: BSD-3-Clause
# Charm++ 6.10 or later is optional. If it is found, the balancers and programs for it are built.
# CMake looks for it first in CHARM_HOME (the folder with bin/charmc), which the build folder
# remembers, and then in the folder into which `./dev charm` builds Charm++ 6.10.
option(POISE_CHARM "Build for Charm++ where it is found" ON)
set(CHARMC "")
if(POISE_CHARM)
  if(DEFINED ENV{CHARM_HOME})
    set(POISE_CHARM_HOME $ENV{CHARM_HOME} CACHE PATH "Charm++: the folder with bin/charmc" FORCE)
    if(NOT EXISTS ${POISE_CHARM_HOME}/bin/charmc)
      message(FATAL_ERROR "CHARM_HOME must be an installation of Charm++, but ${POISE_CHARM_HOME}/bin/charmc does not exist")
    endif()
  endif()
  set(charm_cache $ENV{XDG_CACHE_HOME})
  if(NOT charm_cache)
    set(charm_cache $ENV{HOME}/.cache)
  endif()
  foreach(home ${POISE_CHARM_HOME} ${charm_cache}/poise/charm-6.10/multicore-linux-x86_64)
    if(NOT CHARMC AND EXISTS ${home}/bin/charmc)
      set(CHARM_HOME ${home})
      set(CHARMC ${home}/bin/charmc)
      message(STATUS "Charm++ in ${CHARM_HOME}")
    endif()
  endforeach()
endif()

add_custom_target(charm_programs)  # builds everything that charmc compiles

# charm_object(OUT SOURCE [CI]) compiles SOURCE with charmc as C++17, because the headers of Charm++
# 6.10 are not valid C++20, and sets OUT to the object file. A .ci file, if given, lies in the
# folder of the source and is named after its module. The include path is joined to its option
# (-IPATH), because charmc would mistake a separate argument with a dot for a file.
function(charm_object out source)
  get_filename_component(source ${source} ABSOLUTE)
  get_filename_component(stem ${source} NAME_WE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/charm)
  file(MAKE_DIRECTORY ${folder})
  set(generated "")
  if(ARGN)
    get_filename_component(interface ${ARGN} ABSOLUTE)
    get_filename_component(module ${interface} NAME_WE)
    set(generated ${folder}/${module}.decl.h ${folder}/${module}.def.h)
    add_custom_command(OUTPUT ${generated} COMMAND ${CHARMC} ${interface}
                       WORKING_DIRECTORY ${folder} DEPENDS ${interface} VERBATIM)
  endif()
  set(object ${folder}/${stem}.o)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${CHARMC} -O2 -std=c++17 -isystem${CHARM_HOME}/include -I${CMAKE_SOURCE_DIR} -I${folder}
            -MMD -MF ${object}.d -MT ${object} -c ${source} -o ${object}
    DEPENDS ${source} ${generated} DEPFILE ${object}.d COMMENT "charmc ${stem}" VERBATIM)
  set(${out} ${object} PARENT_SCOPE)
endfunction()

# charm_program(NAME OBJECTS… [LINK LIBRARIES…]) links a Charm++ program with Poise's balancers and Charm++'s own.
# LIBRARIES are targets or options for the linker.
function(charm_program name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  set(words "")
  set(files "")
  foreach(pair HybridBaseLB:PoiseHybridLB TreeLB:PoiseTreeLB LBManager:PoiseJointLB)
    string(REPLACE ":" ";" pair ${pair})
    list(GET pair 0 base)
    list(GET pair 1 module)
    if(EXISTS ${CHARM_HOME}/include/${base}.h)
      list(APPEND words -module ${module})
      list(APPEND files ${POISE_CHARM_FOLDER}/libmodule${module}.a)
    endif()
  endforeach()
  foreach(library IN LISTS arg_LINK)
    if(TARGET ${library})
      list(APPEND words $<TARGET_FILE:${library}>)
      list(APPEND files ${library})
    else()
      list(APPEND words ${library})
    endif()
  endforeach()
  foreach(module CommonLBs TreeMatchLB ScotchLB)
    if(EXISTS ${CHARM_HOME}/lib/libmodule${module}.a)
      list(APPEND words -module ${module})
    endif()
  endforeach()
  if(EXISTS ${CHARM_HOME}/lib/libmoduleScotchLB.a)
    list(APPEND words -lscotch -lscotcherr)
  endif()
  set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name})
  add_custom_command(
    OUTPUT ${program}
    COMMAND ${CHARMC} -language charm++ -o ${program} ${arg_UNPARSED_ARGUMENTS} -module PoiseLB
            -L${POISE_CHARM_FOLDER} -lpoise_charm -Wl,-rpath,${POISE_CHARM_FOLDER} ${words}
    DEPENDS ${arg_UNPARSED_ARGUMENTS} ${files} poise_charm ${POISE_CHARM_FOLDER}/libmodulePoiseLB.a
    COMMENT "charmc -o ${name}" VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${program})
  add_dependencies(charm_programs ${name})
endfunction()
