# Tests of the command as a user meets it: each script ends with 0, or fails. They get its path in PARTITA, and
# the repository's in PARTITA_SOURCE.
file(GLOB command_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*_test.sh ${CMAKE_CURRENT_LIST_DIR}/*_test.py)
if(TARGET partita_command)
  foreach(script IN LISTS command_tests)
    get_filename_component(stem ${script} NAME_WE)
    string(REGEX REPLACE "_test$" "" stem ${stem})
    add_test(NAME command-${stem} COMMAND ${script})
    set_tests_properties(
      command-${stem}
      PROPERTIES TIMEOUT ${command_timeout} LABELS command
                 ENVIRONMENT "PARTITA=$<TARGET_FILE:partita_command>;PARTITA_SOURCE=${PROJECT_SOURCE_DIR};${mpi_environment}")
  endforeach()
endif()
