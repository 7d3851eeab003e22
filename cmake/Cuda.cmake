# CUDA, wherever nvcc is found. The runtime is linked statically and the driver is looked up when it is needed, so
# that what is built here also runs on machines without a driver. Sets PARTITA_HAVE_CUDA.

set(PARTITA_HAVE_CUDA OFF)
if(NOT PARTITA_CUDA)
  message(STATUS "CUDA: off")
  return()
endif()
# The sanitizers have nothing to say about devices, and nvcc's host compiler takes part in none of them.
if(PARTITA_CUDA MATCHES "^(AUTO|PRESENT)$" AND PARTITA_SANITIZE)
  message(STATUS "CUDA: off in a sanitized build")
  return()
endif()

include(${CMAKE_CURRENT_LIST_DIR}/CudaArchitectures.cmake)
find_program(PARTITA_NVIDIA_SMI nvidia-smi)
mark_as_advanced(PARTITA_NVIDIA_SMI)
if(PARTITA_CUDA STREQUAL PRESENT)
  partita_find_gpus(gpus "${PARTITA_NVIDIA_SMI}")
  if(NOT gpus)
    message(STATUS "CUDA: no GPU here; built without (-DPARTITA_CUDA=ON builds for GPUs of other machines)")
    return()
  endif()
endif()

find_program(PARTITA_NVCC nvcc HINTS $ENV{CUDA_HOME} $ENV{CUDA_PATH} /usr/local/cuda PATH_SUFFIXES bin)
mark_as_advanced(PARTITA_NVCC)
if(NOT PARTITA_NVCC)
  if(PARTITA_CUDA MATCHES "^(AUTO|PRESENT)$")
    message(STATUS "CUDA: no nvcc; built without")
    return()
  endif()
  message(FATAL_ERROR "PARTITA_CUDA is ON, but there is no nvcc (looked in the PATH, CUDA_HOME and /usr/local/cuda)")
endif()

if(NOT CMAKE_CUDA_ARCHITECTURES)
  partita_choose_cuda_architectures(CMAKE_CUDA_ARCHITECTURES ${PARTITA_NVCC} "${PARTITA_NVIDIA_SMI}")
endif()
set(CMAKE_CUDA_COMPILER ${PARTITA_NVCC})
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
if(CCACHE AND NOT DEFINED CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
if(CUDAToolkit_VERSION VERSION_LESS 12.5)
  message(FATAL_ERROR "CUDA ${CUDAToolkit_VERSION} is too old: 12.5 or newer (or -DPARTITA_CUDA=OFF)")
endif()
set(PARTITA_HAVE_CUDA ON)

# After the language is enabled: CMake 3.25 does not know how nvcc is asked for C++20, and would refuse the programs
# that it tries the compiler with.
if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)

# Refuses what is not a list of numbers.
partita_least_cuda_architecture(least_architecture "${CMAKE_CUDA_ARCHITECTURES}")
# Devices that there is no code for are refused.
list(JOIN CMAKE_CUDA_ARCHITECTURES "," architectures)
set_property(
  SOURCE src/device/cuda_physical_device.cpp
  APPEND
  PROPERTY COMPILE_DEFINITIONS PARTITA_CUDA_ARCHITECTURES="${architectures}")
message(STATUS "CUDA: ${CUDAToolkit_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
