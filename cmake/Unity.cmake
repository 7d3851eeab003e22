# The sources of each folder compiled as one: a third of the work for a whole build, and more of it for one edit. `make` does
# so in the build folders that it makes itself; presets compile each file alone.

option(PARTITA_UNITY "Compile the sources of each folder as one" OFF)

# partita_unite(TARGET [ALONE FILES...] [QUICK FOLDERS...]): the files and all of the folders after ALONE stay alone: those that
# have a name for themselves which another file of the folder has too, and inner loops, whose inlining must not hang on their
# neighbours. The folders after QUICK take longer to optimise than to run: they plan, print, or read and write files.
function(partita_unite target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ALONE;QUICK")
  if(NOT PARTITA_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  foreach(source IN LISTS sources)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH folder)
    if(path IN_LIST arg_ALONE OR folder IN_LIST arg_ALONE)
      continue()
    endif()
    string(MAKE_C_IDENTIFIER "${folder}" group)
    set_property(SOURCE ${source} TARGET_DIRECTORY ${target} PROPERTY UNITY_GROUP "${target}_${group}")
  endforeach()
  if(NOT CMAKE_BUILD_TYPE STREQUAL Debug)
    foreach(folder IN LISTS arg_QUICK)
      string(MAKE_C_IDENTIFIER "${folder}" group)
      set_property(SOURCE ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/Unity/unity_${target}_${group}_cxx.cxx
                   APPEND PROPERTY COMPILE_OPTIONS -O1)
    endforeach()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # What only files together can be blamed for: hidden names of another file, a file's own type as a member.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
endfunction()
