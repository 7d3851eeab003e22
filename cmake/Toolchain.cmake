# How our own code is compiled.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Kind of build" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

find_program(CCACHE ccache)
mark_as_advanced(CCACHE)
if(CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# Only what is used is linked: the MPI wrappers and BLAS name more libraries than we call.
add_link_options(-Wl,--as-needed)
# If a compiler links its runtime statically, no other library may be bound to ours: a process may have the shared one, too.
add_link_options(-Wl,--exclude-libs,ALL)
if(PARTITA_SANITIZE)
  add_compile_options(-fsanitize=${PARTITA_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PARTITA_SANITIZE})
  if(PARTITA_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()

set(partita_warnings
    -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast
    -Woverloaded-virtual -Wcast-qual -Wunused -Wdouble-promotion -Wformat=2)
# At -O3 gcc 12 and 13 find fault with the standard library's own strings, variants and vectors (gcc bugs 105329,
# 105562, 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  list(APPEND partita_warnings -Wno-maybe-uninitialized -Wno-restrict)
endif()

# partita_compile_quickly(TARGET): for code that takes longer to optimise than to run.
function(partita_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-O1>)
endfunction()

# partita_our_code(TARGET): warnings, and errors of them where asked.
function(partita_our_code target)
  # gcc 12's own AVX-512 header is full of values that it finds uninitialised (gcc bug 105593).
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "x86[a-z0-9_]*\\.cpp$")
  if(sources AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    set_property(SOURCE ${sources} APPEND PROPERTY COMPILE_OPTIONS -Wno-uninitialized)
  endif()
  target_compile_options(
    ${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${partita_warnings}>"
                      $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${PARTITA_WERROR}>>:-Werror>
                      $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>
                      $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${PARTITA_WERROR}>>:-Werror=all-warnings>)
endfunction()
