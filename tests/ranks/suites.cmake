# The suites of partita_rank_tests, and by what they are tested in addition to threads on the CPU, where all run. A suite is
# repeated where what it looks at depends on that:
#
#   processes          ranks that are processes
#   nodes              processes, one rank per node: by messages
#   launcher, launcher-nodes, tcp, other-mpi, other-mpi-nodes
#                      the command's own launcher, TCP, the MPI that `MPI=` does not name; in a node and between nodes
#   device             fake devices, with ranks that are threads
#   pushing, storing   those of a machine on which devices put what they multiply, store what they transform
#   library            each a node, with a library of collectives that carries the messages
#   device-processes   what reaches into the device memory of other processes, or waits for them
#   device-nodes       each a node, where the host waits for messages
#   device-ends        fake devices, where each test ends its context: on its own, since that takes long
#
# ranks/suites_test.sh sees that no suite is missing.
set(suites
    "Agree:                  processes nodes"
    "Along:                  device"
    "Array:                  device"
    "ArrayReductions:        device"
    "Astype:                 device"
    "Batches:                processes device"
    "Barrier:                processes nodes"
    "Captured:               device library"
    "Cholesky:               processes nodes device device-processes"
    "CollectiveErrors:       processes nodes device"
    "Collectively:           processes nodes device"
    "Collectives:            processes nodes launcher device library"
    "Context:                processes nodes launcher tcp other-mpi other-mpi-nodes device"
    "Condition:              processes nodes device"
    "ContextEnd:             processes nodes tcp device"
    "ContextOptions:         processes nodes tcp device"
    "ContextThreads:         processes nodes tcp device"
    "Create:                 device"
    "CrossMemory:            processes device"
    "*/Cycles:               processes nodes"
    "CyclesOf:               processes nodes"
    "Device:                 device device-processes"
    "DeviceFft:              device pushing storing library device-processes"
    "DeviceFftStreams:       device pushing storing library device-processes device-nodes"
    "DeviceLinear:           device library device-processes device-nodes"
    "DeviceMatmul:           device pushing library device-processes"
    "DeviceMatmulRing:       device pushing library device-processes"
    "DeviceMatmulStreams:    device pushing library device-processes device-nodes"
    "DeviceMessages:         device device-processes"
    "DevicePasses:           device device-processes"
    "*/Disagreement:         processes nodes device device-processes"
    "DisagreementOf:         processes nodes device device-processes"
    "Dlpack:                 device"
    "Elements:               device"
    "Eigen:                  processes nodes device"
    "Elementwise:            device"
    "Exchange:               processes nodes"
    "Failure:                processes nodes launcher launcher-nodes other-mpi-nodes device"
    "Fft:                    processes nodes device storing library device-processes"
    "FftErrors:              device"
    "FftObject:              processes nodes device storing library device-processes"
    "Files:                  processes"
    "Fork:                   processes launcher other-mpi"
    "Functions:              device"
    "GivenUp:                device"
    "Halo:                   processes nodes device library device-processes"
    "HaloAccumulate:         processes nodes device"
    "HaloHalves:             processes nodes device"
    "HaloHalvesFailure:      processes nodes device"
    "Hdf5Files:              processes"
    "Hdf5Types:"
    "Into:                   device"
    "LargeBatches:           processes"
    "LinearErrors:           processes nodes device"
    "LinearFunctions:        device"
    "LinearLayouts:          processes nodes device device-processes"
    "Lu:                     processes nodes device device-processes"
    "LuGrid:                 processes nodes"
    "Matmul:                 processes nodes device pushing library device-processes"
    "MatmulEpilogue:         device pushing"
    "MatmulErrors:           device"
    "MatmulFloat8:           device"
    "MatmulInGroups:         device"
    "MatmulIntegers:         device"
    "MatmulObject:           processes nodes device pushing library device-processes"
    "MatmulVectors:          device"
    "MemoryErrors:           processes nodes device"
    "Names:                  device"
    "NamesOfCalls:           processes nodes device"
    "NanReductions:          processes device"
    "NodeMemory:             processes"
    "OriginsOfArrays:        processes"
    "Nvshmem:                device device-processes"
    "OnWait:                 processes"
    "OutOfMemory:            processes nodes device device-processes"
    "*/OutOfMemoryLater:     processes nodes device"
    "Overlapping:            device"
    "PacketNumbers:          device"
    "Packets:                device device-processes"
    "PeerReads:              device device-processes"
    "PlanStreams:            device"
    "PointToPoint:           processes nodes launcher launcher-nodes tcp other-mpi-nodes device"
    "Print:"
    "ProcessGroup:           processes nodes launcher launcher-nodes other-mpi other-mpi-nodes"
    "Qr:                     processes nodes device"
    "Quantiles:              processes"
    "RankUpdate:             processes device"
    "Redistribute:           processes nodes launcher launcher-nodes device library device-processes"
    "RedistributeCounts:     processes device"
    "RedistributeFailure:    processes nodes device device-processes"
    "Refine:                 processes nodes device"
    "Refusal:                processes nodes device"
    "Results:                processes device device-processes"
    "*/ReturnedNumbers:      processes device-ends"
    "RunAhead:               device"
    "Sockets:                launcher"
    "Spectral:               device storing"
    "SpectralStreams:        device"
    "Scans:                  device"
    "Selection:              device"
    "Sorting:                processes nodes device"
    "Statistics:             device"
    "Subgroup:               processes nodes launcher launcher-nodes tcp other-mpi-nodes device"
    "SubgroupOfOthers:       processes nodes launcher launcher-nodes tcp other-mpi-nodes device"
    "SymmetricMemory:        processes nodes device"
    "SymmetricMemoryOnNodes: processes nodes device"
    "Trace:                  processes device"
    "TrafficRecord:"
    "Transform:              device"
    "TallQr:                 processes nodes device"
    "TwoContexts:            processes nodes device"
    "Views:                  device"
    "Wait:                   processes nodes"
    "WaitDeadline:           processes"
    "*/WaitOf:               processes nodes"
    "WaitWatch:              processes nodes"
    "Window:                 device"
    "Withdrawal:             processes nodes device"
    "Written:                device")

# partita_suites(OUT BY): gtest's filter of those that are tested by `BY`.
function(partita_suites out by)
  set(names)
  foreach(row IN LISTS suites)
    string(REGEX MATCH "^([^:]+): *(.*)$" row "${row}")
    string(REPLACE " " ";" kinds "${CMAKE_MATCH_2}")
    if(by IN_LIST kinds)
      list(APPEND names "${CMAKE_MATCH_1}.*")
    endif()
  endforeach()
  list(JOIN names ":" names)
  set(${out} ${names} PARENT_SCOPE)
endfunction()
