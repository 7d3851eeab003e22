# What the programs of apps/ compute, on 1 to 4 ranks.
file(GLOB app_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/apps/*.cpp)
add_executable(partita_app_tests ${app_tests} ${PARTITA_APP_KERNELS} ${CMAKE_CURRENT_SOURCE_DIR}/support/rank_main.cpp)
partita_our_code(partita_app_tests)
partita_compile_quickly(partita_app_tests)
partita_precompile(partita_app_tests LIKE partita_test_support)
target_link_libraries(partita_app_tests PRIVATE partita_app_objects partita_test_support partita_fake_devices
                                                partita_objects)

set(on_one_rank TransformerEstimate.*) # once is enough
partita_add_rank_test(apps-threads-1 1 COMMAND partita_app_tests --threads-group --ranks=1 FILTER ${on_one_rank})
partita_add_rank_test(apps-threads-1-others 1 COMMAND partita_app_tests --threads-group --ranks=1 FILTER -${on_one_rank})
partita_add_rank_test(apps-threads-3 3 COMMAND partita_app_tests --threads-group --ranks=3)
# On devices made of host memory and threads, where the programs' kernels run in their host form.
set(on_devices FILTER Density.*:ShallowWater.*:Transformer.* ENVIRONMENT PARTITA_TEST_DEVICE=fake)
foreach(ranks 1 4)
  partita_add_rank_test(apps-threads-${ranks}-fake-device ${ranks}
                        COMMAND partita_app_tests --threads-group --ranks=${ranks} ${on_devices})
endforeach()
partita_add_rank_test(apps-threads-2-fake-device-pushing 2 COMMAND partita_app_tests --threads-group --ranks=2 ${on_devices}
                      PARTITA_MACHINE=${machines}/machine_that_pushes.json)
if(processes)
  partita_add_rank_test(
    apps-mpi-3-fake-device-as-nodes 3
    COMMAND ${launch} 3 ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS} -- $<TARGET_FILE:partita_app_tests> ${on_devices}
            ${mpi_environment} PARTITA_RANKS_PER_NODE=1)
  foreach(ranks 2 4)
    partita_add_rank_test(
      apps-mpi-${ranks} ${ranks} COMMAND ${launch} ${ranks} ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS} --
      $<TARGET_FILE:partita_app_tests> ENVIRONMENT ${mpi_environment})
  endforeach()
endif()

if(TARGET partita_command)
  add_test(NAME apps-transformer COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/apps/transformer_test.sh)
  set_tests_properties(
    apps-transformer
    PROPERTIES TIMEOUT ${command_timeout} LABELS ranks PROCESSORS 2 ENVIRONMENT
               "PARTITA=$<TARGET_FILE:partita_command>;TRANSFORMER=$<TARGET_FILE:partita_transformer>;${threads_environment}")
endif()
