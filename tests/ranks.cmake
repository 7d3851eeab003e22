# Rank tests: one executable with its own main, started on several processes, or with its ranks as threads.
file(GLOB_RECURSE rank_sources CONFIGURE_DEPENDS ranks/*.cpp)
partita_choose_backends(rank_sources)
add_executable(partita_rank_tests ${rank_sources})
partita_our_code(partita_rank_tests)
target_include_directories(partita_rank_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(partita_rank_tests PRIVATE partita_objects GTest::gtest)

# Sanitizers are slow, and MPI's own leaks are not ours.
set(rank_timeout 240)
set(rank_environment PARTITA_FULL=$<BOOL:${PARTITA_FULL}>)
if(PARTITA_FULL OR PARTITA_SANITIZE)
  set(rank_timeout 1800)
endif()
if(PARTITA_SANITIZE MATCHES address)
  list(APPEND rank_environment ASAN_OPTIONS=detect_leaks=0)
endif()

function(partita_add_rank_test name label)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "COMMAND;ENVIRONMENT")
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${rank_timeout} LABELS "ranks;${label}" RUN_SERIAL ON
                                          ENVIRONMENT "${rank_environment};${arg_ENVIRONMENT}")
endfunction()

foreach(ranks RANGE 1 4)
  partita_add_rank_test(ranks-threads-${ranks} threads
                        COMMAND partita_rank_tests --threads-group --ranks=${ranks})
  # ThreadSanitizer does not know what MPI synchronises.
  if(NOT PARTITA_HAVE_MPI OR PARTITA_SANITIZE MATCHES thread)
    continue()
  endif()
  set(launch ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS} -n ${ranks} $<TARGET_FILE:partita_rank_tests>)
  partita_add_rank_test(ranks-mpi-${ranks} mpi COMMAND ${launch})
  partita_add_rank_test(ranks-mpi-${ranks}-as-nodes mpi COMMAND ${launch} ENVIRONMENT PARTITA_RANKS_PER_NODE=1)
endforeach()
