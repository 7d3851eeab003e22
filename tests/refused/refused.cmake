# What must not compile: the compiler's words are the test.
function(partita_refused source complaint)
  add_test(NAME refused-${source}
           COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -I${PROJECT_SOURCE_DIR}/include
                   -I${PROJECT_BINARY_DIR}/generated/include ${CMAKE_CURRENT_SOURCE_DIR}/refused/${source}.cpp)
  set_tests_properties(refused-${source} PROPERTIES PASS_REGULAR_EXPRESSION "${complaint}" LABELS unit)
endfunction()
partita_refused(type_without_dtype "static assertion failed: Partita has no dtype for this C.. type")
