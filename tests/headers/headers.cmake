# Every public header compiles alone, and twice.
file(GLOB_RECURSE public_headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include
     ${PROJECT_SOURCE_DIR}/include/*.hpp)
set(header_sources)
foreach(header IN LISTS public_headers ITEMS partita/version.hpp)
  string(MAKE_C_IDENTIFIER ${header} stem)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/headers/${stem}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include <${header}>\n#include <${header}>\n")
  list(APPEND header_sources ${source})
endforeach()
add_library(partita_header_tests OBJECT ${header_sources})
partita_our_code(partita_header_tests)
target_link_libraries(partita_header_tests PRIVATE partita_headers $<TARGET_NAME_IF_EXISTS:MPI::MPI_CXX>)
