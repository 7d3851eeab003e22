# Processes that die. Open MPI's launcher lets the survivors live; MPICH's signals them to death.
if(PARTITA_HAVE_MPI AND NOT PARTITA_SANITIZE)
  add_executable(partita_dead_rank ${CMAKE_CURRENT_SOURCE_DIR}/dead_rank/dead_rank.cpp)
  partita_our_code(partita_dead_rank)
  partita_compile_quickly(partita_dead_rank)
  partita_precompile(partita_dead_rank LIKE partita_test_support)
  target_link_libraries(partita_dead_rank PRIVATE partita_test_support partita_objects)
  set(promise cleanly)
  if(PARTITA_MPI STREQUAL openmpi)
    set(promise survive)
  endif()
  add_test(NAME dead-rank
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/dead_rank/dead_rank.sh ${promise} ${PARTITA_MPI_LAUNCHER}
                   ${PARTITA_MPI_FLAGS} -- $<TARGET_FILE:partita_dead_rank>)
  set_tests_properties(dead-rank PROPERTIES LABELS ranks RUN_SERIAL ON TIMEOUT 240)
endif()
