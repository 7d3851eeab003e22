# The `partita` command: one file a subcommand in tools/, and the benchmarks behind `partita bench`.

if(NOT EXISTS ${PROJECT_SOURCE_DIR}/tools/main.cpp)
  return()
endif()

# ScaLAPACK is a peer that the benchmarks measure against; without it a stub says so.
set(PARTITA_HAVE_SCALAPACK OFF)
if(PARTITA_HAVE_MPI)
  find_library(PARTITA_SCALAPACK_${PARTITA_MPI} NAMES scalapack-${PARTITA_MPI})
  mark_as_advanced(PARTITA_SCALAPACK_${PARTITA_MPI})
  if(PARTITA_SCALAPACK_${PARTITA_MPI})
    set(PARTITA_HAVE_SCALAPACK ON)
  endif()
endif()
message(STATUS "ScaLAPACK (a peer in the benchmarks): ${PARTITA_HAVE_SCALAPACK}")

file(GLOB_RECURSE command_sources CONFIGURE_DEPENDS tools/*.cpp benchmarks/*.cpp)
partita_choose_backends(command_sources)
add_executable(partita_command ${command_sources})
partita_our_code(partita_command)
target_include_directories(partita_command PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tools)
target_link_libraries(partita_command PRIVATE partita::partita partita_dependencies CLI11::CLI11 PNG::PNG)
if(PARTITA_HAVE_SCALAPACK)
  target_link_libraries(partita_command PRIVATE ${PARTITA_SCALAPACK_${PARTITA_MPI}})
endif()
set_target_properties(partita_command PROPERTIES OUTPUT_NAME partita
                                                 INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
