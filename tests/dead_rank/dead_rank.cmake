# Processes that die. The launcher must let the survivors live, and under the address sanitizer a killed
# process leaves nothing to look at.
if(PARTITA_HAVE_MPI AND NOT PARTITA_SANITIZE)
  add_executable(partita_dead_rank ${CMAKE_CURRENT_SOURCE_DIR}/dead_rank/dead_rank.cpp)
  partita_our_code(partita_dead_rank)
  target_link_libraries(partita_dead_rank PRIVATE partita)
  add_test(NAME dead-rank COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/dead_rank/dead_rank.sh ${PARTITA_MPI_LAUNCHER}
                                  ${PARTITA_MPI_FLAGS} -- $<TARGET_FILE:partita_dead_rank>)
  set_tests_properties(dead-rank PROPERTIES LABELS ranks RUN_SERIAL ON TIMEOUT 240)
endif()
