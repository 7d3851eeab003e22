# The MPI of PARTITA_MPI, found by its own wrapper so that another one installed beside it does not get in.
# Sets PARTITA_HAVE_MPI, PARTITA_MPI_LAUNCHER and PARTITA_MPI_FLAGS (the flags that root, a machine with fewer
# cores than ranks, and the survival of a dead rank need).

set(PARTITA_HAVE_MPI OFF)
if(PARTITA_MPI STREQUAL none)
  message(STATUS "MPI: none; ranks are threads of one process")
  return()
elseif(PARTITA_MPI STREQUAL openmpi)
  set(partita_launchers mpirun.openmpi mpirun)
  set(PARTITA_MPI_FLAGS --allow-run-as-root --oversubscribe --bind-to none --enable-recovery --mca
                        btl_base_warn_component_unused 0
                        --mca orte_abort_on_non_zero_status 0)
elseif(PARTITA_MPI STREQUAL mpich)
  set(partita_launchers mpirun.mpich mpiexec.hydra mpirun)
  set(PARTITA_MPI_FLAGS -disable-auto-cleanup)
else()
  message(FATAL_ERROR "PARTITA_MPI is \"${PARTITA_MPI}\"; known: openmpi, mpich, none")
endif()

# A change of PARTITA_MPI in a build tree must not keep what was found for the other one.
if(NOT "${PARTITA_MPI_FOUND_FOR}" STREQUAL "${PARTITA_MPI}")
  foreach(variable PARTITA_MPI_WRAPPER PARTITA_MPI_LAUNCHER MPI_CXX_COMPILER MPI_CXX_WORKS MPIEXEC_EXECUTABLE)
    unset(${variable} CACHE)
  endforeach()
  get_cmake_property(cached CACHE_VARIABLES)
  list(FILTER cached INCLUDE REGEX "^MPI_")
  foreach(variable IN LISTS cached)
    unset(${variable} CACHE)
  endforeach()
  set(PARTITA_MPI_FOUND_FOR ${PARTITA_MPI} CACHE INTERNAL "")
endif()

find_program(PARTITA_MPI_WRAPPER NAMES mpicxx.${PARTITA_MPI} mpicxx REQUIRED)
find_program(PARTITA_MPI_LAUNCHER NAMES ${partita_launchers} REQUIRED)
set(MPI_CXX_COMPILER ${PARTITA_MPI_WRAPPER} CACHE FILEPATH "")
set(MPIEXEC_EXECUTABLE ${PARTITA_MPI_LAUNCHER} CACHE FILEPATH "")
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI REQUIRED COMPONENTS CXX)
# Some distributions put their own optimisation flags (-flto, ...) into the wrapper; they are not ours.
set_property(TARGET MPI::MPI_CXX PROPERTY INTERFACE_COMPILE_OPTIONS "")
set_property(TARGET MPI::MPI_CXX PROPERTY INTERFACE_LINK_OPTIONS "")
set(PARTITA_HAVE_MPI ON)

# The header says whose MPI it is.
include(CheckCXXSourceCompiles)
function(partita_identify_mpi)
  set(macro_of_openmpi OPEN_MPI)
  set(macro_of_mpich MPICH_VERSION)
  set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_CXX)
  set(CMAKE_REQUIRED_QUIET ON)
  check_cxx_source_compiles("#include <mpi.h>
    #ifndef ${macro_of_${PARTITA_MPI}}
    #error another one
    #endif
    int main() { return 0; }" PARTITA_MPI_IS_${PARTITA_MPI})
  if(NOT PARTITA_MPI_IS_${PARTITA_MPI})
    message(FATAL_ERROR "${PARTITA_MPI_WRAPPER} is not ${PARTITA_MPI}'s. Install ${PARTITA_MPI} (make setup), or "
                        "say which MPI is meant: -DPARTITA_MPI=openmpi|mpich|none (make MPI=...).")
  endif()
endfunction()
partita_identify_mpi()
message(STATUS "MPI: ${PARTITA_MPI} ${MPI_CXX_VERSION}, wrapper ${PARTITA_MPI_WRAPPER}, launcher ${PARTITA_MPI_LAUNCHER}")

# Programs that the caller builds with the `mpicxx` of the PATH must use the same MPI as Partita does.
find_program(partita_callers_wrapper NAMES mpicxx NO_CACHE)
if(partita_callers_wrapper)
  file(REAL_PATH ${partita_callers_wrapper} callers_real)
  file(REAL_PATH ${PARTITA_MPI_WRAPPER} ours_real)
  execute_process(COMMAND ${partita_callers_wrapper} -show OUTPUT_VARIABLE callers_line ERROR_QUIET)
  execute_process(COMMAND ${PARTITA_MPI_WRAPPER} -show OUTPUT_VARIABLE our_line ERROR_QUIET)
  if(NOT callers_real STREQUAL ours_real AND NOT callers_line STREQUAL our_line)
    message(STATUS "MPI: note: the mpicxx of the PATH (${partita_callers_wrapper}) belongs to another MPI than "
                   "Partita's (${PARTITA_MPI_WRAPPER}); build callers with ${PARTITA_MPI_WRAPPER}")
  endif()
endif()
