# The installed package serves a program outside this tree. Sanitized libraries need a sanitized program, so
# they stay out.
if(NOT PARTITA_SANITIZE)
  set(first ${PROJECT_SOURCE_DIR}/examples/first.cpp)
  set(launch)
  if(NOT EXISTS ${first})
    set(first ${CMAKE_CURRENT_LIST_DIR}/tiny.cpp)
  elseif(PARTITA_HAVE_MPI)
    set(launch ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh 2 ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS} --)
  endif()
  set(others) # launchers of the other MPIs that the same library serves
  foreach(name IN LISTS PARTITA_MPI_LAUNCHED)
    if(NOT name STREQUAL PARTITA_MPI)
      string(REPLACE ";" " " flags "${PARTITA_MPI_FLAGS_${name}}")
      string(APPEND others "${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh 2 ${PARTITA_MPI_LAUNCHER_${name}} ${flags} --\n")
    endif()
  endforeach()
  add_test(NAME consumer COMMAND ${CMAKE_CURRENT_LIST_DIR}/run.sh ${PROJECT_BINARY_DIR} ${first}
                                 ${CMAKE_CXX_COMPILER} "${others}" ${launch})
  set_tests_properties(consumer PROPERTIES TIMEOUT 240 LABELS consumer)
endif()
