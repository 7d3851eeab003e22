# Tests of the CUDA backend itself: skipped by name where there is no GPU.
if(NOT PARTITA_HAVE_CUDA)
  return()
endif()
file(GLOB cuda_test_sources CONFIGURE_DEPENDS cuda/*.cpp)
add_executable(partita_cuda_tests ${cuda_test_sources})
partita_our_code(partita_cuda_tests)
partita_compile_quickly(partita_cuda_tests)
partita_precompile(partita_cuda_tests LIKE partita_test_support)
target_include_directories(partita_cuda_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(partita_cuda_tests PRIVATE partita_fake_devices partita_objects GTest::gtest GTest::gtest_main)
set_target_properties(partita_cuda_tests PROPERTIES LINKER_LANGUAGE CXX)
partita_unite(
  partita_cuda_tests
  ALONE
  cuda/accelerator_test.cpp
  cuda/capture_test.cpp
  cuda/collectives_graph_test.cpp
  cuda/device_group_test.cpp
  cuda/graph_test.cpp
  cuda/node_memory_test.cpp
  cuda/transforms_test.cpp)
add_test(NAME cuda COMMAND partita_cuda_tests)
set_tests_properties(cuda PROPERTIES TIMEOUT 300 LABELS cuda)
