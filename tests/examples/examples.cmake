# The examples are built as they are shown, and run on 3 ranks; in `make check` the programs of docs/guide.md, and what works
# otherwise on other numbers of ranks, on 1 to 7, the first one on 1 to 4. Where there is no GPU, fill_on_device says so.
file(GLOB examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cpp)
if(PARTITA_HAVE_CUDA)
  file(GLOB kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cu)
  list(APPEND examples ${kernels})
endif()
set(examples_of_mpi communicator) # call MPI themselves
set(on_all_ranks
    power_iteration
    heat
    poisson
    gaussian_process
    columns
    groups
    along_axis
    symmetric_memory
    overlap
    checkpoint
    errors)

# partita_add_example_test(STEM RANKS BY LAUNCH...): on 3 ranks always, on other numbers in `make check`.
function(partita_add_example_test stem ranks by)
  set(configurations CONFIGURATIONS full)
  if(ranks EQUAL 3)
    set(configurations)
  endif()
  set(environment ${mpi_environment})
  if(by)
    set(environment ${threads_environment})
  endif()
  set(name example-${stem}-${ranks}${by})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}) # where it writes its files
  file(MAKE_DIRECTORY ${folder})
  add_test(NAME ${name} COMMAND ${ARGN} $<TARGET_FILE:example_${stem}> WORKING_DIRECTORY ${folder} ${configurations})
  set_tests_properties(${name} PROPERTIES TIMEOUT 120 LABELS examples ENVIRONMENT "${environment}")
endfunction()

set(precompiled)
foreach(source IN LISTS examples)
  get_filename_component(stem ${source} NAME_WE)
  if(stem IN_LIST examples_of_mpi AND NOT PARTITA_HAVE_MPI)
    continue()
  endif()
  add_executable(example_${stem} ${source})
  partita_our_code(example_${stem})
  set_target_properties(example_${stem} PROPERTIES CUDA_STANDARD 20) # for the public headers
  target_link_libraries(example_${stem} PRIVATE partita::partita)
  # All begin with the same headers, which take most of the time.
  if(precompiled)
    set(example_headers LIKE ${precompiled})
  else()
    set(example_headers <iostream> <partita/partita.hpp>)
  endif()
  if(stem IN_LIST examples_of_mpi)
    target_link_libraries(example_${stem} PRIVATE MPI::MPI_CXX)
  elseif(source MATCHES "\\.cpp$")
    partita_precompile(example_${stem} ${example_headers})
    if(NOT precompiled)
      set(precompiled example_${stem})
    endif()
  endif()
  set(numbers 3)
  if(stem IN_LIST on_all_ranks)
    set(numbers 1 2 3 5 7)
  elseif("${stem}" STREQUAL "first")
    set(numbers 1 2 3 4)
  endif()
  foreach(ranks IN LISTS numbers)
    if(PARTITA_HAVE_MPI)
      partita_add_example_test(${stem} ${ranks} "" ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh ${ranks} ${PARTITA_MPI_LAUNCHER}
                               ${PARTITA_MPI_FLAGS} --)
    elseif(ranks EQUAL 1)
      partita_add_example_test(${stem} 1 "")
    endif()
    if(TARGET partita_command AND NOT stem IN_LIST examples_of_mpi) # without MPI, by the command's own launcher
      partita_add_example_test(${stem} ${ranks} -sockets $<TARGET_FILE:partita_command> run -q --threads ${ranks} --)
    endif()
  endforeach()
endforeach()
