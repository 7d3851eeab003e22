# Half of the time that our code takes to compile is spent in the same headers of others. So these are compiled once for all
# that is compiled with the same options: gcc refuses the header otherwise. Our own headers are not among them: each file
# states what it includes, and the lint, which compiles without this, sees that it does.
# Nor are headers that define objects, since every file would get them (CLI11's cost three seconds each).

option(PARTITA_PRECOMPILE "Compile the headers of others once" ON)
# ccache takes such compilations only if the header's time and macros are declared not to matter.
if(CCACHE AND CMAKE_CXX_COMPILER_LAUNCHER STREQUAL "${CCACHE}" AND PARTITA_PRECOMPILE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

set(partita_standard_headers
    <algorithm>
    <array>
    <chrono>
    <cmath>
    <complex>
    <cstring>
    <functional>
    <map>
    <memory>
    <numeric>
    <optional>
    <span>
    <string>
    <string_view>
    <unordered_map>
    <variant>
    <vector>)

function(partita_make_precompiled target)
  set(headers)
  foreach(header IN LISTS partita_standard_headers ARGN)
    list(APPEND headers "$<$<COMPILE_LANGUAGE:CXX>:${header}>")
  endforeach()
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()

# partita_precompile(TARGET HEADERS...): the standard library's, and these.
# partita_precompile(TARGET LIKE OTHER): those of a target that is compiled with the same options.
function(partita_precompile target)
  if(NOT PARTITA_PRECOMPILE)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LIKE" "")
  if(arg_LIKE)
    target_precompile_headers(${target} REUSE_FROM ${arg_LIKE})
  else()
    partita_make_precompiled(${target} ${ARGN})
  endif()
  # ccache wants gcc to name the header in what it preprocesses.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endfunction()
