# The program's own messages, collectives and threads concurrently with Partita's, in a node and between nodes.
if(PARTITA_HAVE_MPI AND NOT PARTITA_SANITIZE MATCHES thread)
  add_executable(partita_beside_mpi beside_mpi/beside_mpi.cpp)
  partita_our_code(partita_beside_mpi)
  partita_compile_quickly(partita_beside_mpi)
  target_link_libraries(partita_beside_mpi PRIVATE partita MPI::MPI_CXX)
  foreach(how between threads finalize)
    foreach(per_node 0 1)
      add_test(NAME beside-mpi-${how}-${per_node}
               COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh 3 ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS} --
                       $<TARGET_FILE:partita_beside_mpi> ${how})
      set_tests_properties(beside-mpi-${how}-${per_node} PROPERTIES PROCESSORS 3 TIMEOUT 240
                           ENVIRONMENT "${mpi_environment};PARTITA_RANKS_PER_NODE=${per_node}")
    endforeach()
  endforeach()

  # Contexts on communicators of the program's own.
  add_executable(partita_communicators beside_mpi/communicators.cpp)
  partita_our_code(partita_communicators)
  partita_compile_quickly(partita_communicators)
  target_link_libraries(partita_communicators PRIVATE partita MPI::MPI_CXX)
  foreach(per_node 0 1)
    add_test(NAME communicators-${per_node}
             COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh 3 ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS} --
                     $<TARGET_FILE:partita_communicators>)
    set_tests_properties(communicators-${per_node} PROPERTIES PROCESSORS 3 TIMEOUT 240
                         ENVIRONMENT "${mpi_environment};PARTITA_RANKS_PER_NODE=${per_node}")
  endforeach()

  # An MPI that a program has opened for itself alone: one program for all of them.
  add_executable(partita_opened beside_mpi/opened.cpp)
  partita_our_code(partita_opened)
  partita_compile_quickly(partita_opened)
  target_link_libraries(partita_opened PRIVATE partita ${CMAKE_DL_LIBS})
  set(libraries_openmpi libmpi.so.40)
  set(libraries_mpich libmpich.so.12 libmpi.so.12)
  foreach(name IN LISTS PARTITA_MPI_LAUNCHED)
    add_test(NAME beside-mpi-opened-${name}
             COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh 2 ${PARTITA_MPI_LAUNCHER_${name}} ${PARTITA_MPI_FLAGS_${name}} --
                     $<TARGET_FILE:partita_opened> ${libraries_${name}})
    set_tests_properties(beside-mpi-opened-${name} PROPERTIES PROCESSORS 2 TIMEOUT 240 ENVIRONMENT "${mpi_environment}")
  endforeach()
endif()
