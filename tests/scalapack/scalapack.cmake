# The drop-in and ScaLAPACK itself, in one program.
if(PARTITA_HAVE_SCALAPACK AND NOT PARTITA_SANITIZE MATCHES thread)
  file(GLOB scalapack_test_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/scalapack/*.cpp)
  list(FILTER scalapack_test_sources EXCLUDE REGEX "preloaded.cpp$")
  add_executable(partita_scalapack_tests ${scalapack_test_sources})
  partita_our_code(partita_scalapack_tests)
  partita_compile_quickly(partita_scalapack_tests)
  partita_precompile(partita_scalapack_tests <gtest/gtest.h>)
  target_compile_definitions(partita_scalapack_tests
                             PRIVATE "PARTITA_SCALAPACK_LIBRARY=\"${PARTITA_SCALAPACK_${PARTITA_MPI}}\"")
  # The order is the point: ours before the original.
  target_link_libraries(
    partita_scalapack_tests PRIVATE partita_scalapack ${PARTITA_SCALAPACK_${PARTITA_MPI}} MPI::MPI_CXX GTest::gtest
                                    ${CMAKE_DL_LIBS})
  partita_unite(partita_scalapack_tests ALONE scalapack/gemr2d_test.cpp scalapack/turns_test.cpp)
  foreach(ranks RANGE 1 4)
    set(command ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh ${ranks} ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS} --
                $<TARGET_FILE:partita_scalapack_tests>)
    set(tests scalapack-${ranks})
    if(ranks GREATER 1) # one rank is one node anyway
      list(APPEND tests scalapack-${ranks}-as-nodes)
    endif()
    list(APPEND tests scalapack-turns-${ranks})
    foreach(test IN LISTS tests)
      set(filter)
      set(environment ${mpi_environment})
      if(test MATCHES nodes)
        list(APPEND environment PARTITA_RANKS_PER_NODE=1)
      elseif(test MATCHES turns) # the other tests compute everything here; these look at who computes
        set(filter FILTER ScalapackTurns.*)
        list(APPEND environment PARTITA_SCALAPACK_THRESHOLD=1)
      endif()
      partita_add_rank_test(${test} ${ranks} COMMAND ${command} ${filter} ENVIRONMENT ${environment})
    endforeach()
  endforeach()

  # A program that was never linked with the drop-in.
  add_executable(partita_preloaded ${CMAKE_CURRENT_SOURCE_DIR}/scalapack/preloaded.cpp)
  partita_our_code(partita_preloaded)
  target_link_libraries(partita_preloaded PRIVATE ${PARTITA_SCALAPACK_${PARTITA_MPI}} MPI::MPI_CXX ${CMAKE_DL_LIBS})
  # partita_add_preload_test(NAME WITH ARGUMENTS...): WITH is what `env` puts before the program.
  function(partita_add_preload_test name with)
    add_test(NAME ${name}
             COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh 2 ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS} -- env ${with}
                     $<TARGET_FILE:partita_preloaded> ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS ranks PROCESSORS 2 TIMEOUT 120 ENVIRONMENT "${mpi_environment}")
  endfunction()
  partita_add_preload_test(scalapack-not-preloaded "" 40 1 -1 -1)
  if(NOT PARTITA_SANITIZE) # a sanitizer's own library would have to be preloaded before ours
    set(preload LD_PRELOAD=$<TARGET_FILE:partita_scalapack>)
    partita_add_preload_test(scalapack-preloaded-small "${preload}" 40 3 0 6)
    partita_add_preload_test(scalapack-preloaded-repeated "${preload}" 300 5 5 5)
    partita_add_preload_test(scalapack-preloaded-all "${preload};PARTITA_SCALAPACK_THRESHOLD=0" 40 3 6 0)
  endif()

  # ScaLAPACK's own testers (Debian: scalapack-mpi-test) with everything computed by the drop-in.
  file(GLOB testers /usr/lib/*/scalapack/${PARTITA_MPI}-tests)
  set(PARTITA_SCALAPACK_TESTERS "${testers}" CACHE PATH "The folder of ScaLAPACK's testers xdlu, xdllt, ...")
  if(NOT EXISTS "${PARTITA_SCALAPACK_TESTERS}/xdlu")
    add_test(NAME scalapack-testers COMMAND ${CMAKE_COMMAND} -E echo "skipped: there are no testers of ScaLAPACK")
    set_tests_properties(scalapack-testers PROPERTIES SKIP_REGULAR_EXPRESSION "skipped" LABELS ranks)
  elseif(NOT PARTITA_SANITIZE)
    foreach(letter s d c z)
      foreach(tester x${letter}lu x${letter}llt x${letter}qr x${letter}ls x${letter}inv PBLAS/${letter}pb3tst)
        get_filename_component(folder ${PARTITA_SCALAPACK_TESTERS}/${tester} DIRECTORY) # with its input
        get_filename_component(name ${tester} NAME)
        add_test(NAME scalapack-tester-${name}
                 COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh 4 ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS} -- env
                         LD_PRELOAD=$<TARGET_FILE:partita_scalapack> PARTITA_SCALAPACK_THRESHOLD=0
                         ${PARTITA_SCALAPACK_TESTERS}/${tester}
                 WORKING_DIRECTORY ${folder})
        set_tests_properties(
          scalapack-tester-${name}
          PROPERTIES LABELS ranks PROCESSORS 2 TIMEOUT 300 ENVIRONMENT "${mpi_environment};OPENBLAS_NUM_THREADS=1"
                     PASS_REGULAR_EXPRESSION "END OF TESTS|End of Tests"
                     FAIL_REGULAR_EXPRESSION "[1-9][0-9]* tests completed and failed|[*] ERROR [*]|FAILED +[*]|run_ranks:")
      endforeach()
    endforeach()
  endif()
endif()
