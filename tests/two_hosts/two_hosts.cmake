# Two hosts on one machine. Only where it is asked for (`ctest -C hosts`): it makes network devices.
if(PARTITA_HAVE_MPI AND PARTITA_MPI STREQUAL openmpi AND NOT PARTITA_SANITIZE)
  add_executable(partita_two_hosts ${CMAKE_CURRENT_SOURCE_DIR}/two_hosts/two_hosts.cpp)
  partita_our_code(partita_two_hosts)
  target_link_libraries(partita_two_hosts PRIVATE partita_objects)
  add_test(NAME two-hosts CONFIGURATIONS hosts
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/two_hosts/two_hosts.sh $<TARGET_FILE:partita_two_hosts>
                   ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS} --)
  set_tests_properties(two-hosts PROPERTIES LABELS ranks RUN_SERIAL ON TIMEOUT 900 SKIP_RETURN_CODE 77)
endif()
