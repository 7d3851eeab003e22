# What is built for a Python package that is installed by itself: a wheel.

# The library, the modules for each MPI and the command are installed inside the package, as component "python".
set(in_package OFF)
if(SKBUILD) # a number: no default that option() takes
  set(in_package ON)
endif()
option(PARTITA_IN_PACKAGE "Install the library and the command inside the Python package" ${in_package})
if(PARTITA_IN_PACKAGE)
  set(CMAKE_INSTALL_LIBDIR partita)
  set(CMAKE_INSTALL_BINDIR partita/bin)
endif()
# What other machines may lack is compiled in or linked statically (scripts/wheel).
option(PARTITA_PORTABLE "Depend on no shared library but those of the C and C++ runtimes and zlib" OFF)
# One library serves the extensions for all versions of Python.
set(PARTITA_INSTALLED "" CACHE PATH "A folder with an installed package without the extension: only the extension is built, for that library")
