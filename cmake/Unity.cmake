# The sources of each folder compiled as one: a third of the work for a whole build, and more of it for one edit. `make` does
# so in the build folders that it makes itself; presets compile each file alone.

option(PARTITA_UNITY "Compile the sources of each folder as one" OFF)

# partita_unite(TARGET [ALONE FILES...] [QUICK FILES...]): the files, and all of the folders, after ALONE stay alone: those that
# have a name for themselves which another file of the folder has too, and inner loops, whose inlining must not hang on their
# neighbours. Those after QUICK take longer to optimise than to run: they plan, print, or read and write files.
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
    string(MAKE_C_IDENTIFIER "${target}_${folder}" group)
    if(NOT CMAKE_BUILD_TYPE STREQUAL Debug AND (path IN_LIST arg_QUICK OR folder IN_LIST arg_QUICK))
      string(APPEND group _quick)
      list(APPEND quick_groups ${group})
    endif()
    set_property(SOURCE ${source} TARGET_DIRECTORY ${target} PROPERTY UNITY_GROUP ${group})
  endforeach()
  list(REMOVE_DUPLICATES quick_groups)
  foreach(group IN LISTS quick_groups)
    set_property(SOURCE ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/Unity/unity_${group}_cxx.cxx
                 PROPERTY COMPILE_OPTIONS -O1)
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # What only files together can be blamed for: hidden names of another file, a file's own type as a member.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
endfunction()
