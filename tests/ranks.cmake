# Rank tests: one executable with its own main, started on several processes, or with its ranks as threads.
file(GLOB_RECURSE rank_sources CONFIGURE_DEPENDS ranks/*.cpp)
partita_choose_backends(rank_sources)
add_executable(partita_rank_tests ${rank_sources})
partita_our_code(partita_rank_tests)
partita_compile_quickly(partita_rank_tests)
partita_precompile(partita_rank_tests <fmt/format.h> <gtest/gtest.h>)
target_include_directories(partita_rank_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(partita_rank_tests PRIVATE partita_objects GTest::gtest)

# Each counts for as many cores as it has ranks: on a small machine such a test is alone, on a large one it has
# neighbours.
set(rank_tests)
function(partita_add_rank_test name ranks)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "COMMAND;ENVIRONMENT")
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS ranks PROCESSORS ${ranks} ENVIRONMENT "${arg_ENVIRONMENT}")
  set(rank_tests ${rank_tests} ${name} PARENT_SCOPE)
endfunction()

set(launch ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh)
foreach(ranks RANGE 1 4)
  partita_add_rank_test(ranks-threads-${ranks} ${ranks} COMMAND partita_rank_tests --threads-group --ranks=${ranks})
  # ThreadSanitizer does not know what MPI synchronises.
  if(NOT PARTITA_HAVE_MPI OR PARTITA_SANITIZE MATCHES thread)
    continue()
  endif()
  set(command ${launch} ${ranks} ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS} -- $<TARGET_FILE:partita_rank_tests>)
  partita_add_rank_test(ranks-mpi-${ranks} ${ranks} COMMAND ${command} ENVIRONMENT ${mpi_environment})
  if(ranks GREATER 1) # one rank is one node anyway
    partita_add_rank_test(ranks-mpi-${ranks}-as-nodes ${ranks} COMMAND ${command}
                          ENVIRONMENT ${mpi_environment} PARTITA_RANKS_PER_NODE=1)
  endif()
endforeach()

# The same tests of redistribution and collectives, on devices made of host memory and threads.
set(device_tests --gtest_filter=Device.*:DeviceMessages.*:Nvshmem.*:Redistribute.*:RedistributeFailure.*:Packets.*:OutOfMemory.*:*Disagreement*)
partita_add_rank_test(ranks-threads-3-fake-device 3 COMMAND partita_rank_tests --threads-group --ranks=3 ${device_tests}:Collectives.*
                      ENVIRONMENT PARTITA_TEST_DEVICE=fake)
# Each a node, with a library of collectives that carries the messages.
partita_add_rank_test(ranks-threads-3-fake-library 3
                      COMMAND partita_rank_tests --threads-group --ranks=3
                              --gtest_filter=DeviceMessages.*:Redistribute.*:Collectives*:Halo.*:Captured.*
                      ENVIRONMENT PARTITA_TEST_DEVICE=fake PARTITA_TEST_LIBRARY=moves PARTITA_RANKS_PER_NODE=1)
if(PARTITA_HAVE_MPI AND NOT PARTITA_SANITIZE MATCHES thread)
  set(command ${launch} 3 ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS} -- $<TARGET_FILE:partita_rank_tests>
              ${device_tests})
  partita_add_rank_test(ranks-mpi-3-fake-device 3 COMMAND ${command}
                        ENVIRONMENT ${mpi_environment} PARTITA_TEST_DEVICE=fake)
  # What goes in packets otherwise is done with flags.
  set(copies --gtest_filter=Device.*:Redistribute.*-*Timeout*:*Watchdog*)
  partita_add_rank_test(ranks-mpi-3-fake-device-copies 3
                        COMMAND ${launch} 3 ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS} --
                                $<TARGET_FILE:partita_rank_tests> ${copies}
                        ENVIRONMENT ${mpi_environment} PARTITA_TEST_DEVICE=fake PARTITA_COPY_WAY=kernel)
  partita_add_rank_test(ranks-mpi-3-fake-device-as-nodes 3 COMMAND ${command}
                        ENVIRONMENT ${mpi_environment} PARTITA_TEST_DEVICE=fake PARTITA_RANKS_PER_NODE=1)
endif()

# The full product (PARTITA_FULL=1 when ctest runs) and the sanitizers take their time.
set(rank_timeout 240)
if(PARTITA_SANITIZE)
  set(rank_timeout 1200)
endif()
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/rank_timeouts.cmake
     "set(timeout ${rank_timeout})\nif(\"\$ENV{PARTITA_FULL}\")\n  set(timeout 7200)\nendif()\n"
     "foreach(name ${rank_tests})\n  set_tests_properties(\${name} PROPERTIES TIMEOUT \${timeout})\nendforeach()\n")
set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/rank_timeouts.cmake)
