# What is compiled once for each MPI and linked to none: it is opened when the process has that MPI, whose names it then
# finds. It is in the folder partita/ next to the library, in the build folder as where it is installed.

# partita_of_mpi(TARGET NAME SOURCES...): a module of the sources for the MPI of that name.
function(partita_of_mpi target name)
  add_library(${target} MODULE ${ARGN})
  partita_our_code(${target})
  string(REPLACE _ - file ${target})
  set_target_properties(
    ${target}
    PROPERTIES OUTPUT_NAME ${file}
               PREFIX lib
               LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/partita
               INSTALL_RPATH "$ORIGIN/..")
  target_include_directories(${target} SYSTEM PRIVATE ${PARTITA_MPI_INCLUDES_${name}})
  target_compile_definitions(${target} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_link_libraries(${target} PRIVATE partita_headers)
endfunction()

foreach(name IN LISTS PARTITA_MPI_MODULES)
  partita_of_mpi(partita_mpi_${name} ${name} src/mpi/module.cpp)
  target_include_directories(partita_mpi_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  install(TARGETS partita_mpi_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/partita COMPONENT python)
  add_dependencies(partita_dependencies partita_mpi_${name}) # of all that has the library, or its objects
endforeach()
