# The `partita` command: one file a subcommand in tools/, and the benchmarks behind `partita bench`.

if(NOT EXISTS ${PROJECT_SOURCE_DIR}/tools/main.cpp)
  return()
endif()

# Peers of the benchmarks that call MPI themselves, and ScaLAPACK and FFTW's own distributed transform, if they are
# installed for the MPI: one module per MPI. They are opened when needed; linked, ScaLAPACK would load a BLAS
# before the library has chosen its kernels.
function(partita_add_peers name)
  find_library(PARTITA_SCALAPACK_${name} NAMES scalapack-${name})
  find_library(PARTITA_FFTW_MPI_LIBRARY NAMES fftw3_mpi)
  mark_as_advanced(PARTITA_SCALAPACK_${name} PARTITA_FFTW_MPI_LIBRARY)
  set(PARTITA_HAVE_SCALAPACK OFF)
  if(PARTITA_SCALAPACK_${name})
    set(PARTITA_HAVE_SCALAPACK ON)
  endif()
  set(PARTITA_HAVE_FFTW_MPI OFF)
  if(PARTITA_FFTW_MPI_LIBRARY AND name STREQUAL openmpi) # Debian builds it with Open MPI
    set(PARTITA_HAVE_FFTW_MPI ON)
  endif()
  set(drop_in) # it is linked to PARTITA_MPI
  if(name STREQUAL PARTITA_MPI)
    set(drop_in libpartita_scalapack.so)
    set(PARTITA_HAVE_SCALAPACK ${PARTITA_HAVE_SCALAPACK} PARENT_SCOPE)
  endif()
  file(GLOB peer_sources CONFIGURE_DEPENDS benchmarks/mpi/*.cpp)
  partita_choose_backends(peer_sources)
  partita_of_mpi(partita_peers_${name} ${name} ${peer_sources} benchmarks/openblas.cpp)
  target_include_directories(partita_peers_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  install(TARGETS partita_peers_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/partita)
  target_link_libraries(partita_peers_${name} PRIVATE partita::partita ${CMAKE_DL_LIBS})
  target_compile_definitions(
    partita_peers_${name}
    PRIVATE "PARTITA_DROP_IN=\"${drop_in}\"" "PARTITA_SCALAPACK_LIBRARY=\"${PARTITA_SCALAPACK_${name}}\""
            "PARTITA_FFTW_MPI_LIBRARY=\"${PARTITA_FFTW_MPI_LIBRARY}\"")
  message(STATUS "Peers in the benchmarks with ${name}: ScaLAPACK ${PARTITA_HAVE_SCALAPACK}, FFTW-MPI ${PARTITA_HAVE_FFTW_MPI}")
endfunction()

set(PARTITA_HAVE_SCALAPACK OFF)
foreach(name IN LISTS PARTITA_MPI_MODULES)
  partita_add_peers(${name})
endforeach()

# The benchmarks are optimised, and so compiled apart from the rest, none of which runs for long.
file(GLOB benchmark_sources CONFIGURE_DEPENDS benchmarks/*.cpp)
partita_choose_backends(benchmark_sources)
add_library(partita_benchmarks OBJECT ${benchmark_sources})
partita_our_code(partita_benchmarks)
partita_precompile(partita_benchmarks <fmt/format.h>)
target_include_directories(partita_benchmarks PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(partita_benchmarks PRIVATE partita_apps partita::partita partita_dependencies)
set_property(SOURCE ${PROJECT_SOURCE_DIR}/benchmarks/python_peers.cpp
             APPEND PROPERTY COMPILE_DEFINITIONS PARTITA_PEERS="${PROJECT_SOURCE_DIR}/benchmarks/peers")
partita_unite(
  partita_benchmarks
  ALONE
  benchmarks/apps.cpp
  benchmarks/apps_on_devices.cpp
  benchmarks/cuda_collectives.cpp
  benchmarks/cuda_cufft.cpp
  benchmarks/cuda_fft.cpp
  benchmarks/cuda_epilogues.cpp
  benchmarks/cuda_matmul.cpp
  benchmarks/cuda_products.cpp
  benchmarks/cuda_redistribute.cpp
  benchmarks/fftw.cpp
  benchmarks/matmul.cpp)

file(GLOB command_sources CONFIGURE_DEPENDS tools/*.cpp tools/pictures/*.cpp)
partita_choose_backends(command_sources)
add_executable(partita_command ${command_sources})
partita_our_code(partita_command)
partita_compile_quickly(partita_command)
partita_precompile(partita_command <fmt/format.h> <fmt/ranges.h>)
target_include_directories(partita_command PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tools)
# `partita run` starts ranks as the tests do.
foreach(name openmpi mpich)
  string(REPLACE ";" " " launcher_flags_${name} "${PARTITA_MPI_FLAGS_${name}}")
endforeach()
set_property(
  SOURCE ${PROJECT_SOURCE_DIR}/tools/launcher.cpp
  APPEND
  PROPERTY COMPILE_DEFINITIONS "PARTITA_LAUNCHER_PATH=\"${PARTITA_MPI_LAUNCHER}\""
           "PARTITA_OPENMPI_FLAGS=\"${launcher_flags_openmpi}\"" "PARTITA_MPICH_FLAGS=\"${launcher_flags_mpich}\"")
target_link_libraries(partita_command PRIVATE partita_benchmarks partita_apps partita::partita partita_dependencies CLI11::CLI11 PNG::PNG)
partita_unite(
  partita_command
  ALONE
  tools/demo_matmul.cpp
  tools/matmul_options.cpp
  tools/pictures/picture.cpp
  tools/redistribute_options.cpp
  tools/terminal.cpp)
file(RELATIVE_PATH bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(partita_command PROPERTIES OUTPUT_NAME partita INSTALL_RPATH "$ORIGIN/${bin_to_lib}")

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
