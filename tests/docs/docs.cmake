# Documents: links, words, outputs of the command, and the reference of the public headers, made without a warning if Doxygen is installed.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
add_test(NAME docs-links COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/check-links)
add_test(NAME docs-words COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/check-words)
add_test(NAME docs-command COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/docs/command_test.py $<TARGET_FILE:partita_command>)
set_tests_properties(docs-links docs-words docs-command PROPERTIES TIMEOUT 60 LABELS docs)
find_program(PARTITA_DOXYGEN doxygen)
mark_as_advanced(PARTITA_DOXYGEN)
if(PARTITA_DOXYGEN)
  add_test(NAME docs-headers COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/docs
                                     ${CMAKE_CURRENT_BINARY_DIR}/docs-headers)
  set_tests_properties(docs-headers PROPERTIES TIMEOUT 120 LABELS docs)
endif()
