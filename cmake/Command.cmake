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

# So is FFTW's own distributed transform; Debian builds it with Open MPI.
set(PARTITA_HAVE_FFTW_MPI OFF)
if(PARTITA_HAVE_MPI AND PARTITA_MPI STREQUAL openmpi)
  find_library(PARTITA_FFTW_MPI_LIBRARY NAMES fftw3_mpi)
  mark_as_advanced(PARTITA_FFTW_MPI_LIBRARY)
  if(PARTITA_FFTW_MPI_LIBRARY)
    set(PARTITA_HAVE_FFTW_MPI ON)
  endif()
endif()
message(STATUS "FFTW-MPI (a peer in the benchmarks): ${PARTITA_HAVE_FFTW_MPI}")

file(GLOB_RECURSE command_sources CONFIGURE_DEPENDS tools/*.cpp benchmarks/*.cpp)
partita_choose_backends(command_sources)
add_executable(partita_command ${command_sources})
partita_our_code(partita_command)
# Nothing in tools/ runs for long, and the templates of the command line take long to optimise. Benchmarks do run;
# compiled otherwise, they cannot share the precompiled headers.
partita_compile_quickly(partita_command)
partita_precompile(partita_command <fmt/format.h> <fmt/ranges.h>)
file(GLOB_RECURSE benchmark_sources benchmarks/*.cpp)
set_source_files_properties(${benchmark_sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
set_property(
  SOURCE ${benchmark_sources}
  APPEND
  PROPERTY COMPILE_OPTIONS $<$<NOT:$<CONFIG:Debug>>:-O3>)
target_include_directories(partita_command PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tools)
# `partita run` starts ranks as the tests do.
string(REPLACE ";" " " launcher_flags "${PARTITA_MPI_FLAGS}")
set_property(
  SOURCE ${PROJECT_SOURCE_DIR}/tools/launcher.cpp
  APPEND
  PROPERTY COMPILE_DEFINITIONS "PARTITA_BUILT_WITH=\"${PARTITA_MPI}\""
           "PARTITA_LAUNCHER_PATH=\"${PARTITA_MPI_LAUNCHER}\"" "PARTITA_LAUNCHER_FLAGS=\"${launcher_flags}\"")
target_link_libraries(partita_command PRIVATE partita::partita partita_dependencies CLI11::CLI11 PNG::PNG)
if(PARTITA_HAVE_SCALAPACK)
  # Opened when it is wanted; linked, it would load a BLAS before the library has chosen its kernels.
  set_property(
    SOURCE ${PROJECT_SOURCE_DIR}/benchmarks/scalapack.cpp
    APPEND
    PROPERTY COMPILE_DEFINITIONS "PARTITA_SCALAPACK_LIBRARY=\"${PARTITA_SCALAPACK_${PARTITA_MPI}}\"")
endif()
if(PARTITA_HAVE_FFTW_MPI)
  set_property(
    SOURCE ${PROJECT_SOURCE_DIR}/benchmarks/fftw_mpi.cpp
    APPEND
    PROPERTY COMPILE_DEFINITIONS "PARTITA_FFTW_MPI_LIBRARY=\"${PARTITA_FFTW_MPI_LIBRARY}\"")
endif()
set_target_properties(partita_command PROPERTIES OUTPUT_NAME partita
                                                 INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

# Shell completion, printed by the command itself where it is installed. A sanitized command stays silent.
if(NOT PARTITA_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  foreach(shell_and_place "bash;bash-completion/completions/partita" "zsh;zsh/site-functions/_partita"
                          "fish;fish/vendor_completions.d/partita.fish")
    list(GET shell_and_place 0 shell)
    list(GET shell_and_place 1 place)
    set(script ${PROJECT_BINARY_DIR}/generated/completion.${shell})
    install(CODE "execute_process(COMMAND \"$<TARGET_FILE:partita_command>\" completion ${shell}
                                  OUTPUT_FILE \"${script}\" COMMAND_ERROR_IS_FATAL ANY)")
    get_filename_component(folder ${place} DIRECTORY)
    get_filename_component(name ${place} NAME)
    install(FILES ${script} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} RENAME ${name})
  endforeach()
endif()
