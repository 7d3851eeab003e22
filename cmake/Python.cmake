# The Python package, where there is a Python to build it with: the one that is named, that of the virtual environment which
# scripts/setup-python makes in the build folder, or the one that scikit-build-core builds a wheel for.

set(PARTITA_PYTHON "" CACHE FILEPATH "The Python that the package is built for, which has nanobind and NumPy; empty: that of the build folder's venv")
set(PARTITA_HAVE_PYTHON OFF)
if(SKBUILD)
  set(PARTITA_HAVE_PYTHON ON)
elseif(PARTITA_PYTHON)
  set(Python_EXECUTABLE ${PARTITA_PYTHON})
  set(PARTITA_HAVE_PYTHON ON)
elseif(EXISTS ${PROJECT_BINARY_DIR}/venv/packages AND NOT PARTITA_SANITIZE)
  set(Python_EXECUTABLE ${PROJECT_BINARY_DIR}/venv/bin/python)
  set(PARTITA_HAVE_PYTHON ON)
endif()
if(PARTITA_HAVE_PYTHON)
  # SKBUILD_SABI_COMPONENT: the stable ABI, which nanobind uses from Python 3.12 on; else empty.
  find_package(Python 3.9 COMPONENTS Interpreter Development.Module ${SKBUILD_SABI_COMPONENT} QUIET)
  if(NOT Python_Development.Module_FOUND)
    set(PARTITA_HAVE_PYTHON OFF)
    message(STATUS "Python: OFF, there are no headers of ${Python_EXECUTABLE}")
    return()
  endif()
  # Python's package knows where its files for CMake are; a distribution's package has them where CMake looks.
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_STRIP_TRAILING_WHITESPACE
                  OUTPUT_VARIABLE nanobind_DIR ERROR_QUIET)
  find_package(nanobind CONFIG REQUIRED)
  message(STATUS "Python: ${Python_VERSION}, nanobind ${nanobind_VERSION}")
elseif(PARTITA_SANITIZE)
  message(STATUS "Python: OFF, the interpreter is not sanitized")
else()
  message(STATUS "Python: OFF, ${PROJECT_BINARY_DIR}/venv is not there (scripts/setup-python makes it)")
endif()
