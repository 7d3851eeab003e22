# The drop-in on GPUs that are made of host memory: what costs less there, and all.
if(TARGET partita_fake AND TARGET partita_scalapack_tests)
  set(command ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh 2 ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS} --
              $<TARGET_FILE:partita_scalapack_tests>)
  set(environment ${mpi_environment} LD_LIBRARY_PATH=$<TARGET_FILE_DIR:partita_fake>)
  partita_add_rank_test(scalapack-devices-2 2 COMMAND ${command} FILTER ScalapackDevices.*
                        ENVIRONMENT ${environment} PARTITA_SCALAPACK_DEVICE=cuda)
  partita_add_rank_test(
    scalapack-all-on-devices-2 2 COMMAND ${command} FILTER ScalapackDevices.*:ScalapackGemm.*
    ENVIRONMENT ${environment} PARTITA_SCALAPACK_DEVICE=cuda:${CMAKE_CURRENT_SOURCE_DIR}/scalapack/free_devices.json)
endif()
