# Programs as users write them: a folder each in apps/, with nothing but the public headers. `partita demo --app` runs them,
# too, so all but their main functions are in a library.
file(GLOB density_sources CONFIGURE_DEPENDS apps/density/*.cpp)
file(GLOB shallow_water_sources CONFIGURE_DEPENDS apps/shallow_water/*.cpp)
file(GLOB transformer_sources CONFIGURE_DEPENDS apps/transformer/*.cpp)
file(GLOB shared_sources CONFIGURE_DEPENDS apps/device/*.cpp apps/picture/*.cpp apps/report/*.cpp)
list(REMOVE_ITEM density_sources ${PROJECT_SOURCE_DIR}/apps/density/main.cpp)
list(REMOVE_ITEM shallow_water_sources ${PROJECT_SOURCE_DIR}/apps/shallow_water/main.cpp)
list(REMOVE_ITEM transformer_sources ${PROJECT_SOURCE_DIR}/apps/transformer/main.cpp)
set(PARTITA_APP_SOURCES ${density_sources} ${shallow_water_sources} ${transformer_sources} ${shared_sources})
partita_choose_backends(PARTITA_APP_SOURCES)

# Their kernels, compiled once for the programs and for the tests.
set(PARTITA_APP_KERNELS)
file(GLOB kernel_sources CONFIGURE_DEPENDS apps/*/*.cu)
# X_sm90a.cu has instructions that devices of compute capability 9.0 alone have, and is compiled for these whatever
# devices are built for; programs ask before they start what is in it.
set(kernel_sources_sm90a ${kernel_sources})
list(FILTER kernel_sources EXCLUDE REGEX "_sm90a\\.cu$")
list(FILTER kernel_sources_sm90a INCLUDE REGEX "_sm90a\\.cu$")
if(PARTITA_HAVE_CUDA)
  add_library(partita_app_kernels OBJECT ${kernel_sources})
  add_library(partita_app_kernels_sm90a OBJECT ${kernel_sources_sm90a})
  set_target_properties(partita_app_kernels_sm90a PROPERTIES CUDA_ARCHITECTURES 90a-real)
  foreach(kernels partita_app_kernels partita_app_kernels_sm90a)
    partita_our_code(${kernels})
    set_target_properties(${kernels} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_include_directories(${kernels} PRIVATE ${PROJECT_SOURCE_DIR}/apps)
    target_link_libraries(${kernels} PRIVATE partita_headers)
    list(APPEND PARTITA_APP_KERNELS $<TARGET_OBJECTS:${kernels}>)
  endforeach()
  partita_compile_for_devices(partita_app_kernels ${kernel_sources})
  # Products and sums are rounded as the host rounds them: which of them a compiler fuses depends on where a column is in its
  # thread, and cells are to have the same bits wherever they are.
  set_property(
    SOURCE apps/shallow_water/cuda_tile_kernels.cu
    APPEND
    PROPERTY COMPILE_OPTIONS -fmad=false)
endif()

# Compiled once, too: tests are linked with the library's objects in place of the library.
add_library(partita_app_objects OBJECT ${PARTITA_APP_SOURCES})
partita_our_code(partita_app_objects)
partita_precompile(partita_app_objects <fmt/format.h>)
partita_unite(
  partita_app_objects
  ALONE
  apps/density/mesh.cpp
  apps/density/particles.cpp
  apps/shallow_water/tile_kernels.cpp
  apps/transformer/host_attention.cpp
  apps/transformer/host_kernels.cpp)
target_include_directories(partita_app_objects PUBLIC ${PROJECT_SOURCE_DIR}/apps)
target_link_libraries(partita_app_objects PRIVATE partita_headers ${PARTITA_FMT} PNG::PNG GIF::GIF
                                                  $<TARGET_NAME_IF_EXISTS:CUDA::cudart_static>)

add_library(partita_apps STATIC ${PARTITA_APP_KERNELS})
set_target_properties(partita_apps PROPERTIES LINKER_LANGUAGE CXX)
target_include_directories(partita_apps PUBLIC ${PROJECT_SOURCE_DIR}/apps)
target_link_libraries(partita_apps PUBLIC partita::partita PRIVATE partita_app_objects)

add_executable(partita_density apps/density/main.cpp)
partita_our_code(partita_density)
partita_compile_quickly(partita_density)
target_link_libraries(partita_density PRIVATE partita_apps CLI11::CLI11)

add_executable(partita_shallow_water apps/shallow_water/main.cpp)
partita_our_code(partita_shallow_water)
partita_compile_quickly(partita_shallow_water)
target_link_libraries(partita_shallow_water PRIVATE partita_apps CLI11::CLI11)

add_executable(partita_transformer apps/transformer/main.cpp)
partita_our_code(partita_transformer)
partita_compile_quickly(partita_transformer)
target_link_libraries(partita_transformer PRIVATE partita_apps CLI11::CLI11)
