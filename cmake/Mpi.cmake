# MPI. The library links none: what it calls of each MPI is a module (src/mpi/), compiled with that MPI's mpi.h and opened
# at run time. Modules are built for PARTITA_MPI, and for every other MPI that is found by a separate wrapper
# (mpicxx.mpich; or PARTITA_MPI_WRAPPER_mpich says which). Only programs that call MPI themselves are linked to one: to
# PARTITA_MPI, whose launcher starts the tests and is the first choice of `partita run`.
#
# Sets PARTITA_HAVE_MPI; PARTITA_MPI_MODULES, the names; of each PARTITA_MPI_LAUNCHER_<name> (which may be missing) and
# PARTITA_MPI_FLAGS_<name> (the flags that root, a machine with fewer cores than ranks, and the survival of a dead rank
# need); PARTITA_MPI_LAUNCHED, those that have a launcher; of PARTITA_MPI the same without its name, and the target
# MPI::MPI_CXX.

set(PARTITA_HAVE_MPI OFF)
set(PARTITA_MPI_MODULES)
set(PARTITA_MPI_LAUNCHED)
set(PARTITA_MPI_FLAGS_openmpi --allow-run-as-root --oversubscribe --bind-to none --enable-recovery --mca
                              btl_base_warn_component_unused 0 --mca orte_abort_on_non_zero_status 0)
set(PARTITA_MPI_FLAGS_mpich -disable-auto-cleanup)
set(partita_mpi_macro_openmpi OPEN_MPI)
set(partita_mpi_macro_mpich MPICH_VERSION)
if(PARTITA_MPI STREQUAL none)
  message(STATUS "MPI: none; ranks are threads of one process, or processes of one machine")
  return()
elseif(NOT PARTITA_MPI MATCHES "^(openmpi|mpich)$")
  message(FATAL_ERROR "PARTITA_MPI is \"${PARTITA_MPI}\"; known: openmpi, mpich, none")
endif()

# What a wrapper hands to the compiler, but for what concerns linking.
function(partita_includes_of_wrapper result wrapper)
  execute_process(COMMAND ${wrapper} -show OUTPUT_VARIABLE line ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX MATCHALL "(^| )-(I|isystem) ?[^ ]+" flags "${line}")
  list(TRANSFORM flags REPLACE "^ ?-(I|isystem) ?" "")
  set(${result} ${flags} PARENT_SCOPE)
endfunction()

# Finds the MPI of that name, and whether it is the one that it should be by its header.
include(CheckCXXSourceCompiles)
function(partita_find_mpi name)
  set(wrappers mpicxx.${name})
  set(launchers mpirun.${name})
  if(name STREQUAL PARTITA_MPI)
    list(APPEND wrappers mpicxx)
    list(APPEND launchers mpiexec.hydra mpirun)
  endif()
  if(name STREQUAL openmpi)
    list(REMOVE_ITEM launchers mpiexec.hydra)
  endif()
  find_program(PARTITA_MPI_WRAPPER_${name} NAMES ${wrappers})
  find_program(PARTITA_MPI_LAUNCHER_${name} NAMES ${launchers})
  mark_as_advanced(PARTITA_MPI_WRAPPER_${name} PARTITA_MPI_LAUNCHER_${name})
  if(NOT PARTITA_MPI_WRAPPER_${name})
    return()
  endif()
  partita_includes_of_wrapper(includes ${PARTITA_MPI_WRAPPER_${name}})
  set(CMAKE_REQUIRED_INCLUDES ${includes})
  set(CMAKE_REQUIRED_QUIET ON)
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # compiled, not linked, as the module is
  check_cxx_source_compiles("#include <mpi.h>
    #ifndef ${partita_mpi_macro_${name}}
    #error another one
    #endif
    int mpi;" PARTITA_MPI_IS_${name})
  if(PARTITA_MPI_IS_${name})
    set(PARTITA_MPI_INCLUDES_${name} ${includes} PARENT_SCOPE)
    set(PARTITA_MPI_MODULES ${PARTITA_MPI_MODULES} ${name} PARENT_SCOPE)
  endif()
endfunction()
foreach(name openmpi mpich)
  partita_find_mpi(${name})
endforeach()
if(NOT PARTITA_MPI IN_LIST PARTITA_MPI_MODULES OR NOT PARTITA_MPI_LAUNCHER_${PARTITA_MPI})
  message(FATAL_ERROR "${PARTITA_MPI} is not here (wrapper: ${PARTITA_MPI_WRAPPER_${PARTITA_MPI}}, launcher: "
                      "${PARTITA_MPI_LAUNCHER_${PARTITA_MPI}}). Install it (make setup), or say which MPI is meant: "
                      "-DPARTITA_MPI=openmpi|mpich|none (make MPI=...).")
endif()
set(PARTITA_HAVE_MPI ON)
foreach(name IN LISTS PARTITA_MPI_MODULES)
  if(PARTITA_MPI_LAUNCHER_${name})
    list(APPEND PARTITA_MPI_LAUNCHED ${name})
  endif()
endforeach()
set(PARTITA_MPI_LAUNCHER ${PARTITA_MPI_LAUNCHER_${PARTITA_MPI}})
set(PARTITA_MPI_FLAGS ${PARTITA_MPI_FLAGS_${PARTITA_MPI}})

if(PARTITA_IN_PACKAGE) # which has no program that calls MPI itself, and another machine's launcher
  message(STATUS "MPI: modules for ${PARTITA_MPI_MODULES}")
  set(PARTITA_MPI_LAUNCHER)
  return()
endif()

# For programs that call MPI themselves. A change of PARTITA_MPI must not keep what was found for the other one.
if(NOT "${PARTITA_MPI_FOUND_FOR}" STREQUAL "${PARTITA_MPI}")
  get_cmake_property(cached CACHE_VARIABLES)
  list(FILTER cached INCLUDE REGEX "^MPI")
  foreach(variable IN LISTS cached)
    unset(${variable} CACHE)
  endforeach()
  set(PARTITA_MPI_FOUND_FOR ${PARTITA_MPI} CACHE INTERNAL "")
endif()
set(MPI_CXX_COMPILER ${PARTITA_MPI_WRAPPER_${PARTITA_MPI}} CACHE FILEPATH "")
set(MPIEXEC_EXECUTABLE ${PARTITA_MPI_LAUNCHER} CACHE FILEPATH "")
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI REQUIRED COMPONENTS CXX)
# Some distributions put their own optimisation flags (-flto, ...) into the wrapper; they are not ours.
set_property(TARGET MPI::MPI_CXX PROPERTY INTERFACE_COMPILE_OPTIONS "")
set_property(TARGET MPI::MPI_CXX PROPERTY INTERFACE_LINK_OPTIONS "")
message(STATUS "MPI: modules for ${PARTITA_MPI_MODULES}; our own programs with ${PARTITA_MPI} ${MPI_CXX_VERSION}, "
               "launcher ${PARTITA_MPI_LAUNCHER}")
