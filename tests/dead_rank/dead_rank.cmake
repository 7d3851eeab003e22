# Processes that die. Open MPI's launcher lets the survivors live; MPICH's signals them to death.
if(PARTITA_HAVE_MPI AND NOT PARTITA_SANITIZE)
  add_executable(
    partita_dead_rank
    ${CMAKE_CURRENT_SOURCE_DIR}/dead_rank/dead_rank.cpp ${CMAKE_CURRENT_SOURCE_DIR}/ranks/fake_device.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/ranks/fake_device_group.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/ranks/fake_nvshmem.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/ranks/refused_memory.cpp)
  partita_our_code(partita_dead_rank)
  target_include_directories(partita_dead_rank PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(partita_dead_rank PRIVATE partita_objects)
  set(promise cleanly)
  if(PARTITA_MPI STREQUAL openmpi)
    set(promise survive)
  endif()
  add_test(NAME dead-rank
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/dead_rank/dead_rank.sh ${promise} ${PARTITA_MPI_LAUNCHER}
                   ${PARTITA_MPI_FLAGS} -- $<TARGET_FILE:partita_dead_rank>)
  set_tests_properties(dead-rank PROPERTIES LABELS ranks RUN_SERIAL ON TIMEOUT 240)
endif()
