# The scripts: the conversion of the demo's volume, that a failed rank fails a rank test, the choice of architectures, and that
# all packages have the project's version.
add_test(NAME scripts-cuda-architectures
         COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -P
                 ${CMAKE_CURRENT_LIST_DIR}/cuda_architectures_test.cmake)
set_tests_properties(scripts-cuda-architectures PROPERTIES TIMEOUT 60 LABELS scripts)
find_program(PYTHON3 python3)
mark_as_advanced(PYTHON3)
if(PYTHON3)
  add_test(NAME scripts-nifti COMMAND ${PYTHON3} ${CMAKE_CURRENT_LIST_DIR}/nifti_to_npy_test.py)
  add_test(NAME scripts-versions COMMAND ${PYTHON3} ${CMAKE_CURRENT_LIST_DIR}/versions_test.py)
  set_tests_properties(scripts-nifti scripts-versions PROPERTIES TIMEOUT 60 LABELS scripts)
endif()
if(PARTITA_HAVE_MPI)
  set(launch ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh 2 ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS} --)
  add_test(NAME scripts-ranks-succeed COMMAND ${launch} true)
  add_test(NAME scripts-ranks-fail COMMAND ${launch} false)
  add_test(NAME scripts-ranks-killed COMMAND ${launch} sh -c "kill -9 $$")
  set_tests_properties(scripts-ranks-fail scripts-ranks-killed PROPERTIES WILL_FAIL ON)
  set_tests_properties(scripts-ranks-succeed scripts-ranks-fail scripts-ranks-killed PROPERTIES TIMEOUT 60
                                                                                                LABELS scripts)
endif()
