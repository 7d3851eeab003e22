# The libraries that Partita stands on, all from the distribution's packages (scripts/setup installs them).
# `partita_dependencies` collects what the library's own sources use; nothing of it shows in public headers.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
set(PARTITA_FMT fmt::fmt)
set(partita_spdlog spdlog::spdlog)
if(PARTITA_PORTABLE)
  set(PARTITA_FMT fmt::fmt-header-only)
  # spdlog's own header-only target names the shared fmt, with which the library would offer fmt's functions to others.
  set(partita_spdlog partita_spdlog)
  add_library(partita_spdlog INTERFACE)
  target_compile_definitions(partita_spdlog INTERFACE SPDLOG_FMT_EXTERNAL)
  target_include_directories(
    partita_spdlog SYSTEM INTERFACE $<TARGET_PROPERTY:spdlog::spdlog_header_only,INTERFACE_INCLUDE_DIRECTORIES>)
endif()
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
set(found_first ${CMAKE_FIND_LIBRARY_SUFFIXES})
if(PARTITA_PORTABLE)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()
find_package(PNG REQUIRED) # of the command alone
find_package(GIF REQUIRED)
set(CMAKE_FIND_LIBRARY_SUFFIXES ${found_first})
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
  partita_dependencies INTERFACE Threads::Threads ${PARTITA_FMT} ${partita_spdlog} nlohmann_json::nlohmann_json
                                 PkgConfig::HDF5 ${CMAKE_DL_LIBS}
                                 $<TARGET_NAME_IF_EXISTS:CUDA::cudart_static>)
