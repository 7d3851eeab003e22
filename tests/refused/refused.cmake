# What must not compile: the compiler's words are the test.
function(partita_refused source complaint)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "STANDARD" "")
  if(NOT arg_STANDARD)
    set(arg_STANDARD c++20)
  endif()
  add_test(NAME refused-${source}
           COMMAND ${CMAKE_CXX_COMPILER} -std=${arg_STANDARD} -fsyntax-only -I${PROJECT_SOURCE_DIR}/include
                   -I${PROJECT_BINARY_DIR}/generated/include ${CMAKE_CURRENT_SOURCE_DIR}/refused/${source}.cpp)
  set_tests_properties(refused-${source} PROPERTIES PASS_REGULAR_EXPRESSION "${complaint}" LABELS unit)
endfunction()
partita_refused(type_without_dtype "static assertion failed: Partita has no dtype for this C.. type")
set_tests_properties(refused-type_without_dtype PROPERTIES FAIL_REGULAR_EXPRESSION "error: .*error: ") # one is enough
partita_refused(older_standard "error: #error \"Partita needs C..20" STANDARD c++17)
