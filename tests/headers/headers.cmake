# Every public header compiles alone, and twice. The lint builds this, and lints the headers through these sources.
file(GLOB_RECURSE public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.hpp)
if(NOT PARTITA_HAVE_MPI)
  list(FILTER public_headers EXCLUDE REGEX "/partita/mpi\\.hpp$")
endif()
list(TRANSFORM public_headers REPLACE "^${PROJECT_SOURCE_DIR}/include/" "")
set(header_sources)
foreach(header IN LISTS public_headers ITEMS partita/version.hpp)
  string(MAKE_C_IDENTIFIER ${header} stem)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/headers/${stem}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include <${header}>\n#include <${header}>  // NOLINT: on purpose\n")
  list(APPEND header_sources ${source})
endforeach()
add_library(partita_header_tests OBJECT EXCLUDE_FROM_ALL ${header_sources})
partita_our_code(partita_header_tests)
target_compile_options(partita_header_tests PRIVATE -O0 -g0)
target_link_libraries(partita_header_tests PRIVATE partita_headers $<TARGET_NAME_IF_EXISTS:MPI::MPI_CXX>)

# What users write is compiled without a warning, by this compiler and by Clang.
find_program(PARTITA_CLANG NAMES clang++ clang++-18 clang++-16 clang++-14)
foreach(compiler IN ITEMS ${CMAKE_CXX_COMPILER} ${PARTITA_CLANG})
  get_filename_component(stem ${compiler} NAME)
  if(NOT TEST headers-quiet-${stem} AND EXISTS ${compiler})
    add_test(NAME headers-quiet-${stem}
             COMMAND ${compiler} -std=c++20 -Wall -Wextra -Wconversion -Werror -fsyntax-only -I${PROJECT_SOURCE_DIR}/include
                     -I${PROJECT_BINARY_DIR}/generated/include ${CMAKE_CURRENT_LIST_DIR}/quiet.cpp)
    set_tests_properties(headers-quiet-${stem} PROPERTIES LABELS unit)
  endif()
endforeach()
if(NOT PARTITA_CLANG)
  add_test(NAME headers-quiet-clang++ COMMAND ${CMAKE_COMMAND} -E echo "skipped: there is no clang++")
  set_tests_properties(headers-quiet-clang++ PROPERTIES SKIP_REGULAR_EXPRESSION "skipped" LABELS unit)
endif()

# Most of what newcomers guess compiles. Clang stops after 20 errors unless it is told not to.
set(all_errors)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(all_errors -ferror-limit=0)
endif()
add_test(NAME headers-guesses
         COMMAND ${CMAKE_CURRENT_LIST_DIR}/guesses.sh 104 ${CMAKE_CXX_COMPILER} ${all_errors} -std=c++20 -I${PROJECT_SOURCE_DIR}/include
                 -I${PROJECT_BINARY_DIR}/generated/include)
set_tests_properties(headers-guesses PROPERTIES LABELS unit)
