# The seconds of the longest tests on two quiet cores. ctest starts the longest first, so that no long one is left for the end
# when most cores have nothing to do; without this it knows them only after its first run. It takes what is given here before what
# it has recorded. The first pattern that a name matches counts.
set(costs
    "^python-jax-sharded=60"
    "^ranks-mpi-3-as-nodes(-part-.)?$=50"
    "^python-jax-threads-.-part-[01]$=65"
    "^ranks-threads-3-fake-device(-part-.)?$=50"
    "^ranks-threads-3-fake-device-ends(-part-.)?$=40"
    "^python-threads-.(-part-1)?$=50"
    "^python-threads-.-part-2$=46"
    "^ranks-(threads|mpi)-[234](-part-.)?$=45"
    "^ranks-mpi-.*-(as-nodes|others)(-part-.)?$=45"
    "^ranks-mpi-3-fake-device-copies=10"
    "^ranks-mpi-3-fake-device=40"
    "^python-jax-(threads|mpi|devices)=25"
    "^command-plan$=23"
    "^python-(threads|mpi|devices)-=20"
    "^(ranks-threads-3-fake-library|dead-rank)(-part-.)?$=20"
    "^unit-[0-9]+$=16"
    "^(ranks|stress|apps|dead-rank)=12"
    "^command-(matmul|solve|convert)$=10")
get_property(tests DIRECTORY PROPERTY TESTS)
foreach(test IN LISTS tests)
  foreach(cost IN LISTS costs)
    string(REGEX MATCH "^(.*)=([0-9]+)$" matched "${cost}")
    set(seconds ${CMAKE_MATCH_2})
    if(test MATCHES "${CMAKE_MATCH_1}")
      set_property(TEST ${test} PROPERTY COST ${seconds})
      break()
    endif()
  endforeach()
endforeach()
