# The Python package, where there is a Python to build it with: that of the virtual environment which scripts/setup-python
# makes in the build folder, or the one that scikit-build-core builds a wheel for.

set(PARTITA_HAVE_PYTHON OFF)
if(SKBUILD)
  set(PARTITA_HAVE_PYTHON ON)
  # The library lies beside the extension, and is found there.
  set(CMAKE_INSTALL_LIBDIR partita)
elseif(EXISTS ${PROJECT_BINARY_DIR}/venv/packages AND NOT PARTITA_SANITIZE)
  set(Python_EXECUTABLE ${PROJECT_BINARY_DIR}/venv/bin/python)
  set(PARTITA_HAVE_PYTHON ON)
endif()
if(PARTITA_HAVE_PYTHON)
  find_package(Python 3.9 COMPONENTS Interpreter Development.Module QUIET)
  if(NOT Python_Development.Module_FOUND)
    set(PARTITA_HAVE_PYTHON OFF)
    message(STATUS "Python: OFF, there are no headers of ${Python_EXECUTABLE}")
    return()
  endif()
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_STRIP_TRAILING_WHITESPACE
                  OUTPUT_VARIABLE nanobind_DIR COMMAND_ERROR_IS_FATAL ANY)
  find_package(nanobind CONFIG REQUIRED)
  message(STATUS "Python: ${Python_VERSION}, nanobind ${nanobind_VERSION}")
elseif(PARTITA_SANITIZE)
  message(STATUS "Python: OFF, the interpreter is not sanitized")
else()
  message(STATUS "Python: OFF, ${PROJECT_BINARY_DIR}/venv is not there (scripts/setup-python makes it)")
endif()
