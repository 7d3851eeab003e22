# A backend that is absent is a stub file, not #ifdefs through the code. A source belongs to a backend by its
# name: `cuda_*.cpp`, `cublas_*.cpp`, `cufft_*.cpp`, `cusolver_*.cpp`, `nccl_*.cpp` (or anything in a folder
# `cuda/`) to CUDA.
# A file `X_absent.cpp` is compiled in the place of `X.cpp` (or of `X.cu`) when the backend of that is off.

# Pairs of a pattern for the path of a source and the variable that switches its backend.
set(partita_backends
    "(^|/)(cuda|cublas|cufft|cusolver|nccl)[_/.]" PARTITA_HAVE_CUDA
    "(^|/)fftw_mpi[_/.]" PARTITA_HAVE_FFTW_MPI
    "(^|/)(pdgemr2d|pdgemm|scalapack)[_/.]" PARTITA_HAVE_SCALAPACK)

# Sets `result` to whether every backend that the source belongs to is on.
function(partita_backend_is_on source result)
  set(on ON)
  set(rules ${partita_backends})
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
  while(rules)
    list(POP_FRONT rules pattern condition)
    if(path MATCHES "${pattern}" AND NOT ${condition})
      set(on OFF)
    endif()
  endwhile()
  set(${result} ${on} PARENT_SCOPE)
endfunction()

# partita_choose_backends(LIST): leaves in the list of absolute paths the files to compile.
function(partita_choose_backends sources)
  set(chosen)
  foreach(source IN LISTS ${sources})
    string(REPLACE "_absent.cpp" ".cpp" real ${source})
    string(REGEX REPLACE "cpp$" "cu" kernels ${real})
    partita_backend_is_on(${real} available)
    if(real STREQUAL source)
      set(wanted ${available})
    elseif(available AND (EXISTS ${real} OR EXISTS ${kernels}))
      set(wanted OFF)
    else()
      set(wanted ON)
    endif()
    if(wanted)
      list(APPEND chosen ${source})
    endif()
  endforeach()
  set(${sources} ${chosen} PARENT_SCOPE)
endfunction()
