# The random stress program, for a while in each way that ranks and devices come.
file(GLOB stress_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/stress/*.cpp)
add_executable(
  partita_stress ${stress_sources} ${CMAKE_CURRENT_SOURCE_DIR}/ranks/fake_device.cpp
                 ${CMAKE_CURRENT_SOURCE_DIR}/ranks/fake_device_group.cpp
                 ${CMAKE_CURRENT_SOURCE_DIR}/ranks/fake_nvshmem.cpp
                 ${CMAKE_CURRENT_SOURCE_DIR}/ranks/refused_memory.cpp ${CMAKE_CURRENT_SOURCE_DIR}/ranks/rank_run.cpp
                 ${CMAKE_CURRENT_SOURCE_DIR}/ranks/rank_test.cpp)
partita_our_code(partita_stress)
partita_compile_quickly(partita_stress)
partita_precompile(partita_stress <fmt/format.h> <gtest/gtest.h>)
target_include_directories(partita_stress PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(partita_stress PRIVATE partita_objects GTest::gtest)

# In `make test` a minute altogether, from the same seed every time. PARTITA_STRESS_SECONDS when ctest runs: how long
# each takes, from a new seed unless PARTITA_SEED gives one.
set(stress_tests)
function(partita_add_stress_test name ranks)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "COMMAND;ENVIRONMENT")
  add_test(NAME stress-${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/stress/seeded.sh ${arg_COMMAND})
  set_tests_properties(stress-${name} PROPERTIES LABELS "ranks;stress" PROCESSORS ${ranks}
                                                 ENVIRONMENT "${arg_ENVIRONMENT}")
  set(stress_tests ${stress_tests} stress-${name} PARENT_SCOPE)
endfunction()

set(on_devices)
if(PARTITA_SANITIZE MATCHES thread)
  set(on_devices --mismatches=off) # streams that meet the signals of another plan go on with undefined results
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
  endif()
endif()
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/stress_timeouts.cmake
     "set(timeout 600)\nif(\"\$ENV{PARTITA_STRESS_SECONDS}\")\n"
     "  math(EXPR timeout \"600 + 2 * \$ENV{PARTITA_STRESS_SECONDS}\")\nendif()\n"
     "foreach(name ${stress_tests})\n  set_tests_properties(\${name} PROPERTIES TIMEOUT \${timeout})\nendforeach()\n")
set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/stress_timeouts.cmake)
