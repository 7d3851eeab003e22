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
# Any header says so first, also one that is included alone.
foreach(header IN ITEMS fact half index_set scalar stream)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/refused/older_standard_${header}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include <partita/${header}.hpp>\n")
  add_test(NAME refused-older_standard-${header}
           COMMAND ${CMAKE_CXX_COMPILER} -std=c++17 -fmax-errors=1 -fsyntax-only -I${PROJECT_SOURCE_DIR}/include
                   -I${PROJECT_BINARY_DIR}/generated/include ${source})
  set_tests_properties(refused-older_standard-${header} PROPERTIES PASS_REGULAR_EXPRESSION "error: #error \"Partita needs C..20"
                                                                    LABELS unit)
endforeach()
