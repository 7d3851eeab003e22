# The Python package: pytest on 1 to 4 ranks, as threads of one process and as processes; the examples on 2. In `make test`
# on 3 threads, and on 2 processes what takes ranks; by other launchers, on devices and in JAX's programs only what depends
# on that.
if(NOT PARTITA_HAVE_PYTHON)
  return()
endif()
set(python_environment PYTHONPATH=${PROJECT_BINARY_DIR}/python PYTHONDONTWRITEBYTECODE=1)
# mpi4py's wheel looks for MPICH as libmpi.so.12, which Debian calls libmpich.so.12.
if("${PARTITA_MPI}" STREQUAL mpich)
  set(mpich_libraries ${MPI_CXX_LIBRARIES})
  list(FILTER mpich_libraries INCLUDE REGEX "/libmpich\\.so")
  foreach(library IN LISTS mpich_libraries)
    set(folder ${PROJECT_BINARY_DIR}/tests/mpich)
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${library} ${folder}/libmpi.so.12 SYMBOLIC)
    list(APPEND python_environment MPI4PY_LIBMPI=${folder}/libmpi.so.12 LD_LIBRARY_PATH=${folder})
  endforeach()
endif()
# For `make check`.
set(full_tests python-threads-1 python-threads-2 python-threads-4 python-devices-1 python-mpi-1 python-mpi-3 python-mpi-4
               python-jax-threads-1-part-0 python-jax-threads-2-part-0 python-jax-threads-4-part-0
               python-jax-threads-1-part-1 python-jax-threads-2-part-1 python-jax-threads-4-part-1 python-jax-mpi-1 python-jax-mpi-3 python-jax-mpi-4
               python-jax-devices-1 python-mpi4jax-1 python-nvmath-mpi-1 python-nvmath-mpi-2)
# Hypothesis' plug-in takes longer to import than many modules run; its tests do without.
set(pytest ${Python_EXECUTABLE} -m pytest -q -p no:cacheprovider -p no:hypothesispytest)

# partita_add_python_test(NAME RANKS GROUP COMMAND...)
function(partita_add_python_test name ranks group)
  set(configurations)
  if(name IN_LIST full_tests)
    set(configurations CONFIGURATIONS full)
  endif()
  add_test(NAME ${name} COMMAND ${ARGN} ${configurations})
  set_tests_properties(
    ${name} PROPERTIES LABELS python
                       ENVIRONMENT "${python_environment};PARTITA_TEST_GROUP=${group};PARTITA_TEST_RANKS=${ranks}")
endfunction()

# partita_add_python_tests(NAME RANKS GROUP MODULES COMMAND...): the modules, and in `make check` all that `command` has.
function(partita_add_python_tests name ranks group modules)
  if(name IN_LIST full_tests)
    partita_add_python_test(${name} ${ranks} ${group} ${ARGN})
    return()
  endif()
  set(these ${modules})
  list(TRANSFORM these REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/python/test_\\1.py")
  set(command ${ARGN})
  list(FILTER command EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/python|^--ignore")
  partita_add_python_test(${name} ${ranks} ${group} ${command} ${these})
  set(command ${ARGN})
  list(REMOVE_ITEM command ${these})
  list(TRANSFORM these PREPEND --ignore=)
  list(APPEND full_tests ${name}-others)
  partita_add_python_test(${name}-others ${ranks} ${group} ${command} ${these})
endfunction()

set(all ${CMAKE_CURRENT_SOURCE_DIR}/python --ignore-glob=${CMAKE_CURRENT_SOURCE_DIR}/python/test_jax*)
file(GLOB of_jax CONFIGURE_DEPENDS python/test_jax*.py)
set(of_jax_sharded ${of_jax}) # which starts programs with several devices
list(FILTER of_jax_sharded INCLUDE REGEX "jax_sharded")
list(REMOVE_ITEM of_jax ${of_jax_sharded})
set(of_jax_calls ${of_jax}) # where processes differ from threads
list(FILTER of_jax_calls EXCLUDE REGEX "arrays|linalg")
# In parts, each of which stays far below the time limit of a test.
set(part 0)
foreach(others "e-z" "a-dn-z" "a-m")
  partita_add_python_test(python-threads-3-part-${part} 3 threads ${pytest} ${all}
                          --ignore-glob=${CMAKE_CURRENT_SOURCE_DIR}/python/test_[${others}]*)
  math(EXPR part "${part} + 1")
endforeach()
# What needs no ranks has been tested there.
foreach(ranks 1 2 4)
  partita_add_python_test(python-threads-${ranks} ${ranks} threads ${pytest} ${all} --with-ranks-only)
endforeach()
# What has streams and device memory, on fake devices, and data analysis.
file(GLOB of_analysis CONFIGURE_DEPENDS python/test_analysis*.py)
file(GLOB of_returned_numbers CONFIGURE_DEPENDS python/test_returned_numbers*.py)
add_library(partita_fake SHARED python/fake/library.cpp python/fake/xla_calls.cpp)
partita_our_code(partita_fake)
partita_compile_quickly(partita_fake)
target_include_directories(partita_fake PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR})
target_link_libraries(partita_fake PRIVATE partita_fake_devices partita_objects)
set_target_properties(
  partita_fake PROPERTIES OUTPUT_NAME partita SOVERSION ${PARTITA_SOVERSION} VERSION ${PROJECT_VERSION}
                          LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/fake)
# The modules for each MPI are searched next to it.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/tests/fake)
file(CREATE_LINK ${PROJECT_BINARY_DIR}/lib/partita ${PROJECT_BINARY_DIR}/tests/fake/partita SYMBOLIC)
foreach(ranks 1 3)
  partita_add_python_test(
    python-devices-${ranks} ${ranks} threads env LD_LIBRARY_PATH=$<TARGET_FILE_DIR:partita_fake> PARTITA_TEST_DEVICE=fake
    ${pytest} ${CMAKE_CURRENT_SOURCE_DIR}/python/test_devices.py ${CMAKE_CURRENT_SOURCE_DIR}/python/test_device_ufuncs.py ${of_returned_numbers}
    ${of_analysis})
endforeach()

if(PARTITA_HAVE_MPI)
  foreach(ranks RANGE 1 4)
    partita_add_python_test(
      python-mpi-${ranks} ${ranks} processes ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh ${ranks} ${PARTITA_MPI_LAUNCHER}
      ${PARTITA_MPI_FLAGS} -- ${pytest} ${all})
  endforeach()
endif()
# Programs of JAX: their modules skip all tests where it is not installed.
set(of_jax_linalg ${of_jax}) # half of the time
list(FILTER of_jax_linalg INCLUDE REGEX "jax_linalg")
set(of_jax_others ${of_jax})
list(REMOVE_ITEM of_jax_others ${of_jax_linalg})
foreach(ranks RANGE 1 4)
  partita_add_python_test(python-jax-threads-${ranks}-part-0 ${ranks} threads ${pytest} ${of_jax_linalg})
  partita_add_python_test(python-jax-threads-${ranks}-part-1 ${ranks} threads ${pytest} ${of_jax_others})
  if(PARTITA_HAVE_MPI)
    partita_add_python_tests(
      python-jax-mpi-${ranks} ${ranks} processes "jax_mpi4jax;jax_programs;jax_shallow_water" ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh ${ranks} ${PARTITA_MPI_LAUNCHER}
      ${PARTITA_MPI_FLAGS} -- ${pytest} ${of_jax_calls})
  endif()
endforeach()
partita_add_python_test(python-jax-sharded 1 threads ${pytest} ${of_jax_sharded} -k 4-1)
partita_add_python_test(python-jax-sharded-2-processes 1 threads ${pytest} ${of_jax_sharded} -k 1-2)
partita_add_python_test(python-jax-sharded-3-processes 1 threads ${pytest} ${of_jax_sharded} -k 1-3)
file(GLOB jax_examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/jax/*.py)
foreach(example IN LISTS jax_examples)
  get_filename_component(stem ${example} NAME_WE)
  partita_add_python_test(jax-example-${stem} 1 threads env XLA_FLAGS=--xla_force_host_platform_device_count=4 JAX_PLATFORMS=cpu
                          ${Python_EXECUTABLE} ${example})
  set_tests_properties(jax-example-${stem} PROPERTIES SKIP_REGULAR_EXPRESSION "No module named 'jax'")
endforeach()
file(GLOB torch_examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/torch/*.py)
foreach(example IN LISTS torch_examples)
  get_filename_component(stem ${example} NAME_WE)
  partita_add_python_test(torch-example-${stem} 2 processes ${Python_EXECUTABLE} -m torch.distributed.run --standalone --nproc-per-node 2 ${example})
  set_tests_properties(torch-example-${stem} PROPERTIES SKIP_REGULAR_EXPRESSION "No module named 'torch'")
endforeach()
# The same on fake devices, whose memory is the host's: programs on the CPU make the calls of those on GPUs.
set(of_jax_devices ${of_jax})
list(FILTER of_jax_devices EXCLUDE REGEX "mpi4jax|shallow")
foreach(ranks 1 3)
  partita_add_python_tests(
    python-jax-devices-${ranks} ${ranks} threads "jax;jax_errors" env LD_LIBRARY_PATH=$<TARGET_FILE_DIR:partita_fake> PARTITA_TEST_DEVICE=fake
    ${pytest} ${of_jax_devices})
endforeach()
# A program written for mpi4jax, which makes its ranks of mpi4py's.
if(PARTITA_HAVE_MPI)
  foreach(ranks 1 4)
    partita_add_python_test(
      python-mpi4jax-${ranks} ${ranks} processes ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh ${ranks} ${PARTITA_MPI_LAUNCHER}
      ${PARTITA_MPI_FLAGS} -- ${Python_EXECUTABLE} -m partita.compat.mpi4jax --version 0.7
      ${CMAKE_CURRENT_SOURCE_DIR}/python/mpi4jax_program.py)
    set_tests_properties(python-mpi4jax-${ranks} PROPERTIES SKIP_REGULAR_EXPRESSION "No module named 'jax'")
  endforeach()
endif()
# A program written for nvmath.distributed, which makes its ranks of mpi4py's.
if(PARTITA_HAVE_MPI)
  set(program ${Python_EXECUTABLE} -m partita.compat.nvmath ${CMAKE_CURRENT_SOURCE_DIR}/python/nvmath_program.py)
  foreach(ranks 1 2 4)
    partita_add_python_test(
      python-nvmath-mpi-${ranks} ${ranks} processes ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh ${ranks} ${PARTITA_MPI_LAUNCHER}
      ${PARTITA_MPI_FLAGS} -- ${program} numpy)
  endforeach()
  foreach(package torch cupy)
    partita_add_python_test(
      python-nvmath-${package} 2 processes ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh 2 ${PARTITA_MPI_LAUNCHER} ${PARTITA_MPI_FLAGS}
      -- ${program} ${package})
    set_tests_properties(python-nvmath-${package} PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
  endforeach()
  if(TARGET partita_command)
    partita_add_python_test(python-nvmath-run-2 2 processes $<TARGET_FILE:partita_command> run -q -n 2 -- ${program} numpy)
  endif()
endif()
if(TARGET partita_command)
  partita_add_python_tests(python-sockets-2 2 processes "collectives;contexts;errors_of_one_rank;spmd"
                           ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh 2 $<TARGET_FILE:partita_command> run -q --threads -- ${pytest} ${all})
  file(GLOB python_examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/python/*.py)
  foreach(example IN LISTS python_examples)
    get_filename_component(stem ${example} NAME_WE)
    partita_add_python_test(python-example-${stem} 2 processes ${CMAKE_CURRENT_SOURCE_DIR}/run_ranks.sh 2
                            $<TARGET_FILE:partita_command> run -q --threads -- ${Python_EXECUTABLE} ${example})
    set_tests_properties(python-example-${stem} PROPERTIES WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/tests
                                                           SKIP_REGULAR_EXPRESSION "No module named '(jax|torch|mpi4py)'|cannot load MPI library")
  endforeach()
endif()
