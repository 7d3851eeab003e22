# The libraries that Partita stands on, all from the distribution's packages (scripts/setup installs them).
# `partita_dependencies` collects what the library's own sources use; nothing of it shows in public headers.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PNG REQUIRED)
find_package(GIF REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
pkg_search_module(HDF5 REQUIRED IMPORTED_TARGET hdf5-serial hdf5)
find_path(PARTITA_DLPACK_INCLUDE NAMES dlpack/dlpack.h REQUIRED)
mark_as_advanced(PARTITA_DLPACK_INCLUDE)
include(Mpi)
include(Cuda)

# The public headers, generated ones included, without the library.
add_library(partita_headers INTERFACE)
target_include_directories(partita_headers INTERFACE ${PROJECT_SOURCE_DIR}/include
                                                     ${PROJECT_BINARY_DIR}/generated/include)

# OpenBLAS and FFTW are not linked here: the runtime settles which of OpenBLAS's kernels suits the processor
# before it opens the library.
add_library(partita_dependencies INTERFACE)
target_include_directories(partita_dependencies SYSTEM INTERFACE ${PARTITA_DLPACK_INCLUDE})
target_link_libraries(
  partita_dependencies INTERFACE Threads::Threads fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json
                                 PkgConfig::HWLOC PkgConfig::HDF5 ${CMAKE_DL_LIBS}
                                 $<TARGET_NAME_IF_EXISTS:CUDA::cudart_static>)
