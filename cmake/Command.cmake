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

# The benchmarks are optimised, and so compiled apart from the rest, none of which runs for long.
file(GLOB benchmark_sources CONFIGURE_DEPENDS benchmarks/*.cpp)
partita_choose_backends(benchmark_sources)
add_library(partita_benchmarks OBJECT ${benchmark_sources})
partita_our_code(partita_benchmarks)
target_include_directories(partita_benchmarks PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(partita_benchmarks PRIVATE partita::partita partita_dependencies)
partita_unite(
  partita_benchmarks
  ALONE
  benchmarks/cuda_collectives.cpp
  benchmarks/cuda_redistribute.cpp
  benchmarks/fftw.cpp
  benchmarks/matmul.cpp
  benchmarks/pdgemr2d.cpp)

file(GLOB command_sources CONFIGURE_DEPENDS tools/*.cpp)
partita_choose_backends(command_sources)
add_executable(partita_command ${command_sources})
partita_our_code(partita_command)
partita_compile_quickly(partita_command)
partita_precompile(partita_command <fmt/format.h> <fmt/ranges.h>)
target_include_directories(partita_command PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tools)
# `partita run` starts ranks as the tests do.
string(REPLACE ";" " " launcher_flags "${PARTITA_MPI_FLAGS}")
set_property(
  SOURCE ${PROJECT_SOURCE_DIR}/tools/launcher.cpp
  APPEND
  PROPERTY COMPILE_DEFINITIONS "PARTITA_BUILT_WITH=\"${PARTITA_MPI}\""
           "PARTITA_LAUNCHER_PATH=\"${PARTITA_MPI_LAUNCHER}\"" "PARTITA_LAUNCHER_FLAGS=\"${launcher_flags}\"")
target_link_libraries(partita_command PRIVATE partita_benchmarks partita::partita partita_dependencies CLI11::CLI11 PNG::PNG)
partita_unite(
  partita_command
  ALONE
  tools/demo_matmul.cpp
  tools/matmul_options.cpp
  tools/picture.cpp
  tools/redistribute_options.cpp
  tools/terminal.cpp)
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
