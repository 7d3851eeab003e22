# Rank tests: one executable with its own main, started on several processes, or with its ranks as threads.
file(GLOB_RECURSE rank_sources CONFIGURE_DEPENDS ranks/*.cpp)
partita_choose_backends(rank_sources)
add_executable(partita_rank_tests ${rank_sources} support/rank_main.cpp)
partita_our_code(partita_rank_tests)
partita_compile_quickly(partita_rank_tests)
partita_precompile(partita_rank_tests LIKE partita_test_support)
target_link_libraries(partita_rank_tests PRIVATE partita_test_support partita_fake_devices partita_objects)
partita_unite(partita_rank_tests)

# What `make test` leaves to `make check` (ctest -C full), see CONTRIBUTING.md. Where there are no processes, threads are
# all that there is.
include(ranks/suites.cmake)
set(processes OFF)
set(full_tests)
if(PARTITA_HAVE_MPI AND NOT PARTITA_SANITIZE MATCHES thread) # ThreadSanitizer does not know what MPI synchronises
  set(processes ON)
  list(APPEND full_tests ranks-threads-2 ranks-threads-4 ranks-mpi-1 ranks-mpi-3 ranks-mpi-2-as-nodes ranks-mpi-4-as-nodes)
  list(APPEND full_tests scalapack-2 scalapack-3 scalapack-2-as-nodes scalapack-4-as-nodes scalapack-turns-1
       scalapack-turns-2 scalapack-turns-4)
endif()
if(processes AND NOT PARTITA_SANITIZE) # sanitized builds, which only `make check` tests, keep these
  list(APPEND full_tests ranks-mpi-2 ranks-mpi-4-others ranks-mpi-3-as-nodes-others ranks-mpi-3-fake-device-as-nodes)
  list(APPEND full_tests apps-threads-1-others apps-threads-1-fake-device apps-threads-2-fake-device-pushing apps-mpi-4
       apps-mpi-3-fake-device-as-nodes stress-threads-3 stress-mpi-3-fake-device)
endif()

# SUITES: only those that are tested by this, see ranks/suites.cmake; FILTER: only those that gtest's filter names.
#
# A rank waits for others, or for a deadline, most of its time: four take less than a core, so each of several has one thread,
# however many cores there are. Under a sanitizer the longest of them take a quarter of an hour: there those are
# shards, which many cores run side by side; and ThreadSanitizer does not see how the threads of BLAS meet.
function(partita_add_rank_test name ranks)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "SUITES;FILTER" "COMMAND;ENVIRONMENT")
  set(configurations)
  if(name IN_LIST full_tests)
    set(configurations CONFIGURATIONS full)
  endif()
  set(one_thread)
  if(ranks GREATER 1 OR PARTITA_SANITIZE MATCHES thread)
    set(one_thread PARTITA_THREADS=1 OPENBLAS_NUM_THREADS=1)
  endif()
  if(arg_SUITES)
    partita_suites(arg_FILTER ${arg_SUITES})
  endif()
  if(arg_FILTER)
    list(APPEND arg_COMMAND --gtest_filter=${arg_FILTER})
  endif()
  set(names ${name})
  if(PARTITA_SANITIZE AND name MATCHES "^(ranks|apps)-")
    set(names ${name}-part-0 ${name}-part-1 ${name}-part-2 ${name}-part-3)
  elseif(name MATCHES "^ranks-(threads-3-fake-device|mpi-3-as-nodes|mpi-4)$") # the longest of all
    set(names ${name}-part-0 ${name}-part-1)
  endif()
  list(LENGTH names shards)
  set(index 0)
  foreach(part IN LISTS names)
    add_test(NAME ${part} COMMAND ${arg_COMMAND} ${configurations})
    set_tests_properties(
      ${part}
      PROPERTIES LABELS ranks
                 ENVIRONMENT "GTEST_BRIEF=1;GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${index};${threads_environment};${one_thread};${arg_ENVIRONMENT}")
    math(EXPR index "${index} + 1")
  endforeach()
endfunction()

add_test(NAME ranks-suites COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/ranks/suites_test.sh $<TARGET_FILE:partita_rank_tests> ${suites})
set_tests_properties(ranks-suites PROPERTIES LABELS ranks)

# partita_add_repeated_test(NAME RANKS BY ENVIRONMENT...): the suites that are tested by this, and in `make check` the others.
function(partita_add_repeated_test name ranks by)
  set(command ${launch} ${ranks} ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS} -- $<TARGET_FILE:partita_rank_tests>)
  set(environment ENVIRONMENT ${mpi_environment} ${ARGN})
  if(name IN_LIST full_tests)
    partita_add_rank_test(${name} ${ranks} COMMAND ${command} ${environment})
    return()
  endif()
  partita_suites(suites_of ${by})
  partita_add_rank_test(${name} ${ranks} COMMAND ${command} SUITES ${by} ${environment})
  partita_add_rank_test(${name}-others ${ranks} COMMAND ${command} FILTER -${suites_of} ${environment})
endfunction()

set(launch ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh)
foreach(ranks RANGE 1 4)
  partita_add_rank_test(ranks-threads-${ranks} ${ranks} COMMAND partita_rank_tests --threads-group --ranks=${ranks})
  if(NOT processes)
    continue()
  endif()
  partita_add_repeated_test(ranks-mpi-${ranks} ${ranks} processes)
  if(ranks GREATER 1) # one rank is one node anyway
    partita_add_repeated_test(ranks-mpi-${ranks}-as-nodes ${ranks} nodes PARTITA_RANKS_PER_NODE=1)
  endif()
endforeach()

# The same programs under the other MPI: what MPI does, in a node and between nodes; all of them in `make check`.
foreach(name IN LISTS PARTITA_MPI_LAUNCHED)
  if(name STREQUAL PARTITA_MPI OR NOT processes)
    continue()
  endif()
  set(command COMMAND ${launch} 3 ${PARTITA_MPI_LAUNCHER_${name}} ${PARTITA_MPI_FLAGS_${name}} --
              $<TARGET_FILE:partita_rank_tests>)
  set(as_nodes ENVIRONMENT ${mpi_environment} PARTITA_RANKS_PER_NODE=1)
  list(APPEND full_tests ranks-${name}-3 ranks-${name}-3-all-as-nodes)
  partita_add_rank_test(ranks-${name}-3 3 ${command} ENVIRONMENT ${mpi_environment})
  partita_add_rank_test(ranks-${name}-3-all-as-nodes 3 ${command} ${as_nodes})
  partita_add_rank_test(ranks-${name}-3-messages-0 3 ${command} SUITES other-mpi ENVIRONMENT ${mpi_environment})
  partita_add_rank_test(ranks-${name}-3-messages-1 3 ${command} SUITES other-mpi-nodes ${as_nodes})
endforeach()

# Without MPI, by the command's own launcher.
if(TARGET partita_command AND NOT PARTITA_SANITIZE MATCHES thread)
  set(command COMMAND ${launch} 2 $<TARGET_FILE:partita_command> run -q --threads -- $<TARGET_FILE:partita_rank_tests>)
  partita_add_rank_test(ranks-sockets-2 2 ${command} SUITES launcher)
  partita_add_rank_test(ranks-sockets-2-as-nodes 2 ${command} SUITES launcher-nodes ENVIRONMENT PARTITA_RANKS_PER_NODE=1)
endif()

# Over a network messages may arrive long after they were sent.
if(processes AND PARTITA_MPI STREQUAL openmpi)
  partita_add_rank_test(
    ranks-mpi-2-over-tcp 2
    COMMAND ${launch} 2 ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS} --mca btl self,tcp -- $<TARGET_FILE:partita_rank_tests>
    SUITES tcp ENVIRONMENT ${mpi_environment} PARTITA_RANKS_PER_NODE=1)
endif()

# On devices made of host memory and threads: partita_add_device_test(NAME RANKS BY ENVIRONMENT...).
function(partita_add_device_test name ranks by)
  partita_add_rank_test(${name} ${ranks} COMMAND partita_rank_tests --threads-group --ranks=${ranks} SUITES ${by}
                        ENVIRONMENT PARTITA_TEST_DEVICE=fake ${ARGN})
endfunction()
set(machines ${CMAKE_CURRENT_SOURCE_DIR}/support/fakes)
partita_add_device_test(ranks-threads-3-fake-device 3 device)
partita_add_device_test(ranks-threads-3-fake-device-ends 3 device-ends)
# What a device multiplies is put into its memory, however small it is, and what it transforms in groups.
partita_add_device_test(ranks-threads-2-fake-device-pushing 2 pushing PARTITA_MACHINE=${machines}/machine_that_pushes.json)
# What a device transforms it stores where it belongs, wherever that can be.
partita_add_device_test(ranks-threads-3-fake-device-storing 3 storing PARTITA_MACHINE=${machines}/machine_that_stores.json)
partita_add_device_test(ranks-threads-3-fake-library 3 library PARTITA_TEST_LIBRARY=moves PARTITA_RANKS_PER_NODE=1)
partita_add_device_test(ranks-threads-3-fake-device-as-nodes 3 device-nodes PARTITA_RANKS_PER_NODE=1)
if(processes)
  set(command COMMAND ${launch} 3 ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS} -- $<TARGET_FILE:partita_rank_tests>)
  set(on_devices ENVIRONMENT ${mpi_environment} PARTITA_TEST_DEVICE=fake)
  partita_add_rank_test(ranks-mpi-3-fake-device 3 ${command} SUITES device-processes ${on_devices})
  # What is otherwise sent in packets is done with flags.
  partita_add_rank_test(ranks-mpi-3-fake-device-copies 3 ${command} FILTER Device.*:Redistribute.*-*Timeout*:*Watchdog*
                        ${on_devices} PARTITA_COPY_WAY=kernel)
  partita_add_rank_test(ranks-mpi-3-fake-device-as-nodes 3 ${command} SUITES device-processes ${on_devices}
                        PARTITA_RANKS_PER_NODE=1)
endif()
