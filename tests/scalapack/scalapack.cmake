# The drop-in beside ScaLAPACK itself, in one program.
if(PARTITA_HAVE_SCALAPACK AND NOT PARTITA_SANITIZE MATCHES thread)
  file(GLOB scalapack_test_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/scalapack/*.cpp)
  list(FILTER scalapack_test_sources EXCLUDE REGEX "preloaded.cpp$")
  add_executable(partita_scalapack_tests ${scalapack_test_sources})
  partita_our_code(partita_scalapack_tests)
  target_compile_definitions(partita_scalapack_tests
                             PRIVATE "PARTITA_SCALAPACK_LIBRARY=\"${PARTITA_SCALAPACK_${PARTITA_MPI}}\"")
  # The order is the point: ours before the original.
  target_link_libraries(
    partita_scalapack_tests PRIVATE partita_scalapack ${PARTITA_SCALAPACK_${PARTITA_MPI}} MPI::MPI_CXX GTest::gtest
                                    ${CMAKE_DL_LIBS})
  foreach(ranks RANGE 1 4)
    set(command ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh ${ranks} ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS} --
                $<TARGET_FILE:partita_scalapack_tests>)
    add_test(NAME scalapack-${ranks} COMMAND ${command})
    add_test(NAME scalapack-${ranks}-as-nodes COMMAND ${command})
    set_tests_properties(scalapack-${ranks} scalapack-${ranks}-as-nodes
                         PROPERTIES LABELS ranks RUN_SERIAL ON TIMEOUT 240 ENVIRONMENT "${mpi_environment}")
    set_property(TEST scalapack-${ranks}-as-nodes APPEND PROPERTY ENVIRONMENT PARTITA_RANKS_PER_NODE=1)
  endforeach()
endif()
