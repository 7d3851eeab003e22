# The C++ code of these documents as a program, on 1 to 4 ranks.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
set(guide_documents guide linalg arithmetic arrays collectives distributions devices)
list(TRANSFORM guide_documents REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/docs/\\1.md")
set(guide_program ${CMAKE_CURRENT_BINARY_DIR}/guide.cpp)
add_custom_command(
  OUTPUT ${guide_program}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/guide/guide.py ${guide_program} ${guide_documents}
  DEPENDS ${guide_documents} ${CMAKE_CURRENT_SOURCE_DIR}/guide/guide.py
  VERBATIM)
add_executable(partita_guide guide/main.cpp ${guide_program})
partita_our_code(partita_guide)
target_include_directories(partita_guide PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(partita_guide PRIVATE partita::partita)

function(partita_add_guide_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "COMMAND")
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}) # where it writes its files
  file(MAKE_DIRECTORY ${folder})
  add_test(NAME ${name} COMMAND ${arg_COMMAND} WORKING_DIRECTORY ${folder})
  set_tests_properties(${name} PROPERTIES TIMEOUT 120 LABELS examples ENVIRONMENT "${mpi_environment}")
endfunction()

foreach(ranks 1 4)
  partita_add_guide_test(guide-threads-${ranks} COMMAND partita_guide ${ranks})
endforeach()
if(PARTITA_HAVE_MPI)
  partita_add_guide_test(guide-mpi-3 COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh 3 ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS}
                                             -- $<TARGET_FILE:partita_guide>)
endif()
