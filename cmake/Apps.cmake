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
if(PARTITA_HAVE_CUDA AND kernel_sources)
  add_library(partita_app_kernels OBJECT ${kernel_sources})
  partita_our_code(partita_app_kernels)
  set_target_properties(partita_app_kernels PROPERTIES CUDA_STANDARD 20 POSITION_INDEPENDENT_CODE ON)
  # Products and sums are rounded as the host rounds them: which of them a compiler joins depends on where a column is in its
  # thread, and cells are to have the same bits wherever they are.
  set_source_files_properties(apps/shallow_water/cuda_tile_kernels.cu PROPERTIES COMPILE_OPTIONS -fmad=false)
  target_include_directories(partita_app_kernels PRIVATE ${PROJECT_SOURCE_DIR}/apps)
  target_link_libraries(partita_app_kernels PRIVATE partita_headers)
  set(PARTITA_APP_KERNELS $<TARGET_OBJECTS:partita_app_kernels>)
endif()

add_library(partita_apps STATIC ${PARTITA_APP_SOURCES} ${PARTITA_APP_KERNELS})
partita_our_code(partita_apps)
target_include_directories(partita_apps PUBLIC ${PROJECT_SOURCE_DIR}/apps)
target_link_libraries(partita_apps PUBLIC partita::partita
                      PRIVATE fmt::fmt PNG::PNG GIF::GIF $<TARGET_NAME_IF_EXISTS:CUDA::cudart_static>)

add_executable(partita_density apps/density/main.cpp)
partita_our_code(partita_density)
target_link_libraries(partita_density PRIVATE partita_apps CLI11::CLI11)

add_executable(partita_shallow_water apps/shallow_water/main.cpp)
partita_our_code(partita_shallow_water)
target_link_libraries(partita_shallow_water PRIVATE partita_apps CLI11::CLI11)

add_executable(partita_transformer apps/transformer/main.cpp)
partita_our_code(partita_transformer)
target_link_libraries(partita_transformer PRIVATE partita_apps CLI11::CLI11)
