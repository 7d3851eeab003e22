# The random stress program, for a while in each way that ranks and devices come.
file(GLOB stress_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/stress/*.cpp)
add_executable(partita_stress ${stress_sources})
partita_our_code(partita_stress)
partita_compile_quickly(partita_stress)
partita_precompile(partita_stress LIKE partita_test_support)
target_link_libraries(partita_stress PRIVATE partita_test_support partita_fake_devices partita_objects)
partita_unite(partita_stress ALONE stress/spectra.cpp stress/transforms.cpp)

# In `make test` a minute altogether, from the same seed every time. PARTITA_STRESS_SECONDS when ctest runs: how long
# each takes, from a new seed unless PARTITA_SEED gives one.
function(partita_add_stress_test name ranks)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "COMMAND;ENVIRONMENT")
  partita_add_rank_test(stress-${name} ${ranks} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/stress/seeded.sh ${arg_COMMAND}
                        ENVIRONMENT ${arg_ENVIRONMENT})
  set_property(TEST stress-${name} APPEND PROPERTY LABELS stress)
endfunction()

set(on_devices)
if(PARTITA_SANITIZE MATCHES thread)
  # Streams that meet the signals of another plan, or whose waits are given up, go on with undefined results.
  set(on_devices --mismatches=off --lost=off)
endif()
partita_add_stress_test(threads-3 3 COMMAND $<TARGET_FILE:partita_stress> --threads-group --ranks=3)
partita_add_stress_test(threads-4-fake-device 4 COMMAND $<TARGET_FILE:partita_stress> --threads-group --ranks=4 ${on_devices}
                        ENVIRONMENT PARTITA_TEST_DEVICE=fake)
if(PARTITA_HAVE_MPI AND NOT PARTITA_SANITIZE MATCHES thread)
  set(launched ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS} -- $<TARGET_FILE:partita_stress>)
  partita_add_stress_test(mpi-3 3 COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh 3 ${launched}
                          ENVIRONMENT ${mpi_environment})
  partita_add_stress_test(mpi-3-fake-device 3 COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh 3 ${launched}
                          ENVIRONMENT ${mpi_environment} PARTITA_TEST_DEVICE=fake)
  # MPICH's launcher kills the survivors, too.
  if(PARTITA_MPI STREQUAL openmpi AND NOT PARTITA_SANITIZE)
    partita_add_stress_test(mpi-3-lost 3 COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/stress/lost.sh 3 ${launched})
    set_tests_properties(stress-mpi-3-lost PROPERTIES RESOURCE_LOCK dead_ranks)
  endif()
endif()
